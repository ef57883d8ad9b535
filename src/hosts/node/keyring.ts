import { WakefulError } from '../../error.ts'
import { SECRET_META, type Store } from '../../stores/index.ts'
import type { Sealer } from '../../targets/index.ts'
import { makeSecretFile, passingSecret, readSecretFile, Secret } from './secret.ts'

/** Where the secret of a store comes from. */
export interface SecretPlace {
  /** From the option or the environment; undefined if neither is set. */
  readonly configured: string | undefined
  /** The file of the secret otherwise; null for a store in memory. */
  readonly path: string | null
}

/** The same, and where its fingerprint is. */
export interface SecretSource extends SecretPlace {
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
  /** Why this process cannot use the store's secret. */
  #refusal: WakefulError | null = null

  private constructor(source: SecretSource, secret: Secret | null, fingerprint: string | null) {
    this.#source = source
    this.#secret = secret
    this.#fingerprint = fingerprint
    this.#compare()
  }

  /** Finds the secret. Without the store's own, `check` says why, and everything but webhooks works. */
  static async open(source: SecretSource): Promise<Keyring> {
    const { store } = source
    return new Keyring(source, findSecret(source), await store.getMeta(SECRET_META))
  }

  /** Whether this process has the store's secret, or can create one. */
  get isUsable(): boolean {
    return this.#refusal === null
  }

  /**
   * Why this process lacks the secret of the store; null if it has it, or if nothing needed one yet. A secret that is known
   * here becomes the store's if it has none, so that no process without it creates another. Once this process has a secret
   * and knows the store's fingerprint, the store is not asked again.
   */
  async check(): Promise<WakefulError | null> {
    if (this.#isAgreed || (this.#secret !== null && this.#refusal !== null)) return this.#refusal
    try {
      if (this.#secret !== null) await this.agree()
      else this.#learn(await this.#source.store.getMeta(SECRET_META))
    } catch (thrown) {
      if (this.#refusal === null) throw thrown
    }
    return this.#refusal
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
    if (this.#isAgreed) return
    const { store } = this.#source
    if ((await store.getMeta(SECRET_META)) === null) await store.putMeta(SECRET_META, fingerprint)
    // Two processes may each have created a secret. The store decides.
    this.#learn(await store.getMeta(SECRET_META))
    if (this.#refusal !== null) throw this.#refusal
  }

  get #isAgreed(): boolean {
    return this.#secret !== null && this.#fingerprint === this.#secret.fingerprint
  }

  #learn(fingerprint: string | null): void {
    this.#fingerprint = fingerprint
    // Another process may have created the file meanwhile.
    if (fingerprint !== null) this.#secret ??= findSecret(this.#source)
    this.#compare()
  }

  #compare(): void {
    const { path } = this.#source
    this.#refusal = secretProblem(this.#secret?.fingerprint ?? null, this.#fingerprint, path)
  }

  #need(): Secret {
    if (this.#refusal !== null) throw this.#refusal
    const { path } = this.#source
    this.#secret ??= path === null ? passingSecret() : makeSecretFile(path)
    return this.#secret
  }
}

/** The secret that this process has; null if none is configured and there is no file of it. */
export function findSecret({ configured, path }: SecretPlace): Secret | null {
  if (configured !== undefined) return new Secret(configured, 'the secret')
  return path === null ? null : readSecretFile(path)
}

/** Why this is not the secret of a store, by their fingerprints; null if it is, or if the store has none. */
export function secretProblem(
  own: string | null,
  stored: string | null,
  path: string | null,
): WakefulError | null {
  if (stored === null || own === stored) return null
  return refusal(own === null ? 'secret.missing' : 'secret.other', path)
}

function refusal(reason: 'secret.other' | 'secret.missing', path: string | null): WakefulError {
  return new WakefulError(reason, { file: path })
}
