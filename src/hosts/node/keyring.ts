import { WakefulError } from '../../error.ts'
import type { Store } from '../../stores/index.ts'
import type { Sealer } from '../../targets/index.ts'
import { makeSecretFile, passingSecret, readSecretFile, Secret } from './secret.ts'

/** The name in `meta` of the fingerprint of the secret, which signs webhooks and encrypts their headers. */
const FINGERPRINT_META = 'secret_fingerprint'

/** Where the secret of a store comes from, and where its fingerprint is. */
export interface SecretSource {
  /** From the option or the environment; undefined if neither is set. */
  readonly configured: string | undefined
  /** The file of the secret otherwise; null for a store in memory. */
  readonly path: string | null
  readonly store: Pick<Store, 'getMeta' | 'putMeta'>
  readonly onError: (thrown: unknown) => void
}

/**
 * The secret of one store, created when it is first needed: without webhooks there is no file. The store keeps its
 * fingerprint, so that no process signs or encrypts with another secret.
 */
export class Keyring implements Sealer {
  readonly #source: SecretSource
  #secret: Secret | null
  /** The fingerprint in the store. */
  #fingerprint: string | null
  #agreed: Promise<void> | null = null
  #refusal: WakefulError | null = null
  #isReported = false

  private constructor(source: SecretSource, secret: Secret | null, fingerprint: string | null) {
    this.#source = source
    this.#secret = secret
    this.#fingerprint = fingerprint
  }

  /** Finds the secret, and rejects one that is not the store's. */
  static async open(source: SecretSource): Promise<Keyring> {
    const { configured, path, store } = source
    const inFile = () => (path === null ? null : readSecretFile(path))
    const secret = configured === undefined ? inFile() : new Secret(configured, 'the secret')
    const fingerprint = await store.getMeta(FINGERPRINT_META)
    if (secret !== null && fingerprint !== null && secret.fingerprint !== fingerprint)
      throw refusal('secret.other', path)
    return new Keyring(source, secret, fingerprint)
  }

  /** Whether this process has the store's secret, or can create one. */
  get isUsable(): boolean {
    return this.#refusal === null && (this.#secret !== null || this.#fingerprint === null)
  }

  /** The same for a signature. The first failure is reported. */
  canSign(): boolean {
    if (this.isUsable) return true
    if (!this.#isReported) this.#source.onError(this.#refusal ?? refusal('secret.missing', this.#source.path))
    this.#isReported = true
    return false
  }

  seal(text: string, purpose: string): string {
    const secret = this.#need()
    // This is synchronous. If another process was first, later calls fail.
    void this.agree().catch(this.#source.onError)
    return secret.seal(text, purpose)
  }

  open(sealed: string, purpose: string): string {
    return this.#need().open(sealed, purpose)
  }

  /** The secret, after the store has its fingerprint. */
  async secret(): Promise<Secret> {
    const secret = this.#need()
    await this.agree()
    return secret
  }

  /** Stores the fingerprint; throws if the store has another one by now. */
  agree(): Promise<void> {
    this.#agreed ??= this.#agree().catch((thrown: unknown) => {
      this.#agreed = null
      throw thrown
    })
    return this.#agreed
  }

  async #agree(): Promise<void> {
    const { fingerprint } = this.#need()
    if (this.#fingerprint === fingerprint) return
    const { store, path } = this.#source
    if ((await store.getMeta(FINGERPRINT_META)) === null) await store.putMeta(FINGERPRINT_META, fingerprint)
    // Two processes may each have created a secret. The store decides.
    this.#fingerprint = await store.getMeta(FINGERPRINT_META)
    if (this.#fingerprint === fingerprint) return
    this.#refusal = refusal('secret.other', path)
    throw this.#refusal
  }

  #need(): Secret {
    if (this.#refusal !== null) throw this.#refusal
    if (this.#secret === null) {
      const { path } = this.#source
      if (this.#fingerprint !== null) throw refusal('secret.missing', path)
      this.#secret = path === null ? passingSecret() : makeSecretFile(path)
    }
    return this.#secret
  }
}

function refusal(reason: 'secret.other' | 'secret.missing', path: string | null): WakefulError {
  return new WakefulError(reason, { file: path })
}
