import { WakefulError } from '../../error.ts'
import type { Store } from '../../stores/index.ts'
import type { Sealer } from '../../targets/index.ts'
import { makeSecretFile, passingSecret, readSecretFile, Secret } from './secret.ts'

/** The fact that stores the fingerprint of the secret, which signs webhooks and encrypts their headers. */
const FINGERPRINT_FACT = 'secret_fingerprint'

/** Where the secret of a store comes from. */
export interface SecretSource {
  /** From the option or the environment; undefined if neither is set. */
  readonly configured: string | undefined
  /** The file of the secret otherwise; null for a store in memory. */
  readonly path: string | null
}

/**
 * The secret of one store, created when it is first needed: without webhooks there is no file. The store keeps its
 * fingerprint, so that no process signs or encrypts with another secret.
 */
export class Keyring implements Sealer {
  readonly #store: Pick<Store, 'getMeta' | 'putMeta'>
  readonly #path: string | null
  readonly #onError: (thrown: unknown) => void
  #secret: Secret | null
  /** The fingerprint in the store. */
  #fingerprint: string | null
  #agreed: Promise<void> | null = null
  #refusal: WakefulError | null = null
  #isReported = false

  private constructor(
    store: Pick<Store, 'getMeta' | 'putMeta'>,
    path: string | null,
    secret: Secret | null,
    fingerprint: string | null,
    onError: (thrown: unknown) => void,
  ) {
    this.#store = store
    this.#path = path
    this.#secret = secret
    this.#fingerprint = fingerprint
    this.#onError = onError
  }

  /** Finds the secret, and rejects one that is not the store's. */
  static async open(
    source: SecretSource,
    store: Pick<Store, 'getMeta' | 'putMeta'>,
    onError: (thrown: unknown) => void,
  ): Promise<Keyring> {
    const { configured, path } = source
    const secret =
      configured !== undefined
        ? new Secret(configured, 'the secret')
        : path === null
          ? null
          : readSecretFile(path)
    const fingerprint = await store.getMeta(FINGERPRINT_FACT)
    if (secret !== null && fingerprint !== null && secret.fingerprint !== fingerprint) throw another(path)
    return new Keyring(store, path, secret, fingerprint, onError)
  }

  /** Whether this process has the store's secret, or can create one. */
  get isUsable(): boolean {
    return this.#refusal === null && (this.#secret !== null || this.#fingerprint === null)
  }

  /** The same for a signature. The first failure is reported. */
  canSign(): boolean {
    if (this.isUsable) return true
    if (!this.#isReported) this.#onError(this.#refusal ?? missing(this.#path))
    this.#isReported = true
    return false
  }

  seal(text: string, purpose: string): string {
    const secret = this.#need()
    // This is synchronous. If another process was first, later calls fail.
    void this.agree().catch(this.#onError)
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
    if ((await this.#store.getMeta(FINGERPRINT_FACT)) === null)
      await this.#store.putMeta(FINGERPRINT_FACT, fingerprint)
    // Two processes may each have created a secret. The store decides.
    this.#fingerprint = await this.#store.getMeta(FINGERPRINT_FACT)
    if (this.#fingerprint === fingerprint) return
    this.#refusal = another(this.#path)
    throw this.#refusal
  }

  #need(): Secret {
    if (this.#refusal !== null) throw this.#refusal
    if (this.#secret === null) {
      if (this.#fingerprint !== null) throw missing(this.#path)
      this.#secret = this.#path === null ? passingSecret() : makeSecretFile(this.#path)
    }
    return this.#secret
  }
}

function hintOf(path: string | null): string {
  return `Give this process the secret that the others have: WAKEFUL_SECRET, the option \`secret\`, or the file ${path ?? 'it was created in'}`
}

function another(path: string | null): WakefulError {
  return new WakefulError('secret.other', { hint: hintOf(path) })
}

function missing(path: string | null): WakefulError {
  return new WakefulError('secret.missing', { hint: hintOf(path) })
}
