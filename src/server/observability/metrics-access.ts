import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import { ALL_TENANTS, type Authenticator, type Caller, hashOf } from '../auth/index.ts'
import { type HeaderReader, PROXIED } from '../http/index.ts'
import { TimedOut, withTimeout } from '../limits/index.ts'

/** How long a scraper is known after it was last let in, and how many are. */
const KNOWN_MS = 3_600_000
const KNOWN_MAX = 100
const STORE_MS_MAX = 2_000

/** Everything the door looks at: who comes with the same is let in as the same. */
const LOOKED_AT = [
  'authorization',
  'wakeful-tenant',
  'wakeful-owner',
  'host',
  'origin',
  'sec-fetch-site',
  ...PROXIED,
]

interface Known {
  /** Null: it came without a key, while there were none. */
  readonly keyId: string | null
  readonly expiresAt: number | null
  readonly until: number
}

/**
 * Who may read the metrics: they are of all tenants, and so must the key be. While the store is down no key can be looked up, and
 * that is when they are needed: who was let in within the hour is let in again.
 */
export class MetricsAccess {
  readonly #authenticator: Pick<Authenticator, 'admit'>
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()

  constructor(authenticator: Pick<Authenticator, 'admit'>, clock: Clock) {
    this.#authenticator = authenticator
    this.#clock = clock
  }

  async assertMayRead(headers: HeaderReader): Promise<void> {
    const face = hashOf(JSON.stringify(LOOKED_AT.map((name) => headers.get(name))))
    try {
      const admitted = Promise.resolve(this.#authenticator.admit(headers, 'rest'))
      const caller = await withTimeout(admitted, STORE_MS_MAX, this.#clock)
      assertOfAll(caller)
      this.#remember(face, caller)
    } catch (thrown) {
      if (!isStoreTrouble(thrown)) this.#known.delete(face)
      else if (this.#knows(face)) return
      throw thrown instanceof TimedOut ? new WakefulError('store_unavailable', thrown.message) : thrown
    }
  }

  /** Forgets a key that was ended or changed here; and who came without one, which is over once there are any. */
  forget(keyId: string): void {
    for (const [face, known] of this.#known)
      if (known.keyId === null || known.keyId === keyId) this.#known.delete(face)
  }

  #remember(face: string, { keyId, key }: Caller): void {
    const until = this.#clock.monotonic() + KNOWN_MS
    this.#known.delete(face)
    this.#known.set(face, { keyId, expiresAt: key?.expiresAt?.getTime() ?? null, until })
    if (this.#known.size > KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!)
  }

  #knows(face: string): boolean {
    const known = this.#known.get(face)
    if (known === undefined || this.#clock.monotonic() >= known.until) return false
    return known.expiresAt === null || this.#clock.now() < known.expiresAt
  }
}

function isStoreTrouble(thrown: unknown): boolean {
  return thrown instanceof TimedOut || (thrown instanceof WakefulError && thrown.code === 'store_unavailable')
}

function assertOfAll({ key }: Caller): void {
  if (key === null || key.tenant === ALL_TENANTS) return
  throw new WakefulError('forbidden', 'the metrics are of all tenants: they need a key of tenant "*"')
}
