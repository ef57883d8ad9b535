import { WakefulError } from '../../error.ts'
import { type PortableLine, SECRET_META, type Store } from '../../stores/index.ts'
import { findSecret, type SecretPlace } from './keyring.ts'

/** How many alarms and owners an error names. */
const NAMED_MAX = 10

/**
 * Compares the secret of an export with that of the store it is imported into. With another secret, encrypted headers could
 * never be opened again: then nothing is imported, and the rest of the export is only searched for them.
 */
export class ImportSecret {
  readonly #place: SecretPlace
  readonly #sealed: string[] = []
  #isOther = false
  #isInUse = false

  constructor(place: SecretPlace) {
    this.#place = place
  }

  /** Whether the store has another secret than the export, or none. If it can have the same, it is recorded as the store's. */
  get isOther(): boolean {
    return this.#isOther
  }

  /** Reads the first line of an export. One without a secret fits every store. */
  async compare(
    { secret }: { readonly secret?: string },
    store: Pick<Store, 'getMeta' | 'putMeta'>,
  ): Promise<void> {
    if (secret === undefined) return
    const stored = await store.getMeta(SECRET_META)
    const own = stored ?? findSecret(this.#place)?.fingerprint
    this.#isOther = own !== secret
    this.#isInUse = stored !== null
    if (!this.#isOther && stored === null) await store.putMeta(SECRET_META, secret)
  }

  /** Remembers what of a line is encrypted. */
  inspect(line: PortableLine): void {
    if ('alarm' in line) {
      const { id, target, onFailure } = line.alarm
      if (isSealed(target) || isSealed(onFailure)) this.#sealed.push(`alarm ${id}`)
    } else if ('document' in line && line.document.kind === 'owner') {
      const { name, value } = line.document
      if (isSealed(JSON.parse(value).target)) this.#sealed.push(`the default target of ${name}`)
    }
  }

  /** The error that names everything that was found. */
  refusal(): WakefulError {
    const named = this.#sealed.slice(0, NAMED_MAX)
    return new WakefulError('import.other_secret', {
      named,
      more: this.#sealed.length - named.length,
      file: this.#place.path,
      used: this.#isInUse,
    })
  }
}

function isSealed(target: { readonly config?: { readonly headers?: unknown } } | null | undefined): boolean {
  return target?.config?.headers !== undefined
}
