import { randomBytes } from 'node:crypto'
import { CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Caller } from './authenticator.ts'
import { hashOf } from './key-registry.ts'

const VALID_MS = 30_000
const TICKET = /^wt_[A-Za-z0-9_-]{43}$/
/** How often expired tickets are removed, and how many at a time. */
const SWEEP_INTERVAL_MS = 10_000
const SWEPT_MAX = 200

/** Whom a ticket was issued to. */
export type TicketHolder = Pick<Caller, 'tenant' | 'owner' | 'keyId' | 'keyHash'>

interface TicketRecord extends Omit<TicketHolder, 'tenant'> {
  readonly expiresAt: number
}

/**
 * One-time tickets, kept in the store so that any process accepts them. A ticket is used by removing it, which only one
 * process can. Only its hash is stored: reading the store does not reveal a ticket.
 */
export class TicketStore {
  readonly #documents: CachedDocuments<TicketRecord>
  readonly #clock: Clock
  #sweepAt = 0
  #sweptTo = ''

  constructor(documents: Documents, clock: Clock) {
    this.#documents = new CachedDocuments(documents, clock, 'ticket')
    this.#clock = clock
  }

  /** Issues a ticket that admits this caller once, for 30 seconds. */
  async issue({ tenant, owner, keyId, keyHash }: TicketHolder): Promise<{ ticket: string; expiresAt: Date }> {
    await this.#sweep()
    const expiresAt = this.#clock.now() + VALID_MS
    const ticket = `wt_${randomBytes(32).toString('base64url')}`
    await this.#documents.change(hashOf(ticket), tenant, () => ({ owner, keyId, keyHash, expiresAt }))
    return { ticket, expiresAt: new Date(expiresAt) }
  }

  /** Uses a ticket; null if it is unknown or expired. */
  async redeem(ticket: string): Promise<TicketHolder | null> {
    if (!TICKET.test(ticket)) return null
    const name = hashOf(ticket)
    const found = await this.#documents.get(name)
    if (found === null || !(await this.#documents.remove(name))) return null
    const { expiresAt, ...holder } = found.value
    return this.#clock.now() < expiresAt ? { tenant: found.tenant, ...holder } : null
  }

  /** Removes some of the expired tickets, in the order of their names. */
  async #sweep(): Promise<void> {
    const monotonic = this.#clock.monotonic()
    if (monotonic < this.#sweepAt) return
    this.#sweepAt = monotonic + SWEEP_INTERVAL_MS
    const page = await this.#documents.list(null, this.#sweptTo, SWEPT_MAX)
    this.#sweptTo = page.length === SWEPT_MAX ? page.at(-1)!.name : ''
    // There may be many more: the next call continues.
    if (page.length === SWEPT_MAX) this.#sweepAt = 0
    const now = this.#clock.now()
    for (const { name, value } of page) if (value.expiresAt <= now) await this.#documents.remove(name)
  }
}
