import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import { ALL_TENANTS, type Authenticator, type Caller, hashOf, PROXIED } from '../auth/index.ts'
import type { HeaderReader } from '../http/index.ts'
import { SCRAPE_MS_MAX, TimedOut, withTimeout } from './store-reads.ts'

/** How long a scraper is remembered after it was last admitted, and how many are. */
const REMEMBERED_MS = 3_600_000
const REMEMBERED_MAX = 100

/** Every header that authentication reads: requests with the same values are admitted alike. */
const CREDENTIALS = [
  'authorization',
  'wakeful-tenant',
  'wakeful-owner',
  'host',
  'origin',
  'sec-fetch-site',
  ...PROXIED,
]

interface Admitted {
  /** Null if it had no key, while there were none. */
  readonly keyId: string | null
  readonly expiresAt: number | null
  readonly until: number
}

/**
 * Decides who may read the metrics. They cover all tenants, so the key must be for all tenants. While the store is down no key
 * can be looked up, and that is when metrics are needed: a scraper admitted within the last hour is admitted again.
 */
export class MetricsAccess {
  readonly #authenticator: Pick<Authenticator, 'admit'>
  readonly #clock: Clock
  readonly #admitted = new Map<string, Admitted>()

  constructor(authenticator: Pick<Authenticator, 'admit'>, clock: Clock) {
    this.#authenticator = authenticator
    this.#clock = clock
  }

  async assertMayRead(headers: HeaderReader): Promise<void> {
    const credentials = hashOf(JSON.stringify(CREDENTIALS.map((name) => headers.get(name))))
    try {
      const admitted = this.#authenticator.admit(headers, 'rest')
      const caller = await withTimeout(admitted, SCRAPE_MS_MAX, this.#clock)
      assertAllTenants(caller)
      this.#remember(credentials, caller)
    } catch (thrown) {
      if (!isStoreError(thrown)) this.#admitted.delete(credentials)
      else if (this.#isRemembered(credentials)) return
      throw thrown instanceof TimedOut ? new WakefulError('store.unavailable', {}) : thrown
    }
  }

  /** Forgets scrapers with a key that was changed or revoked here, and those without one: now there are keys. */
  forget(keyId: string): void {
    for (const [credentials, known] of this.#admitted)
      if (known.keyId === null || known.keyId === keyId) this.#admitted.delete(credentials)
  }

  #remember(credentials: string, { keyId, key }: Caller): void {
    const until = this.#clock.monotonic() + REMEMBERED_MS
    this.#admitted.delete(credentials)
    this.#admitted.set(credentials, { keyId, expiresAt: key?.expiresAt?.getTime() ?? null, until })
    if (this.#admitted.size > REMEMBERED_MAX) this.#admitted.delete(this.#admitted.keys().next().value!)
  }

  #isRemembered(credentials: string): boolean {
    const known = this.#admitted.get(credentials)
    if (known === undefined || this.#clock.monotonic() >= known.until) return false
    return known.expiresAt === null || this.#clock.now() < known.expiresAt
  }
}

function isStoreError(thrown: unknown): boolean {
  return thrown instanceof TimedOut || (thrown instanceof WakefulError && thrown.code === 'store_unavailable')
}

function assertAllTenants({ key }: Caller): void {
  if (key === null || key.tenant === ALL_TENANTS) return
  throw new WakefulError('access.metrics', {})
}
