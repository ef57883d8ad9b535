import { WakefulError } from '../error.ts'
import type { TenantSecret, TenantSecrets, Webhooks } from './api.ts'

/** One tenant's webhooks. */
export class TenantWebhooks implements Webhooks {
  readonly #secrets: TenantSecrets | undefined
  readonly #tenant: string

  constructor(secrets: TenantSecrets | undefined, tenant: string) {
    this.#secrets = secrets
    this.#tenant = tenant
  }

  secret(): Promise<TenantSecret> {
    return this.#known().read(this.#tenant)
  }

  rotateSecret(): Promise<TenantSecret> {
    return this.#known().rotate(this.#tenant)
  }

  #known(): TenantSecrets {
    if (this.#secrets !== undefined) return this.#secrets
    throw new WakefulError('webhook.unsupported', {})
  }
}
