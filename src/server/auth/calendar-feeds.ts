import { randomBytes } from 'node:crypto'
import type { Scope } from '../../alarm/index.ts'
import { CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Caller } from './authenticator.ts'
import { hashOf } from './key-registry.ts'

/** Whose calendar it is, and the key its address was made with; null if there were no keys. */
type FeedHolder = Pick<Caller, 'tenant' | 'owner' | 'keyId'>

interface FeedRecord {
  readonly owner: string
  readonly keyId: string | null
  readonly createdAt: number
}

/** Addresses read at a time. */
const PAGE = 500

/** Secret addresses of calendars. A calendar program cannot send a key, so the address itself is the secret. */
export class CalendarFeeds {
  readonly #documents: CachedDocuments<FeedRecord>
  readonly #clock: Clock

  constructor(documents: Documents, clock: Clock) {
    this.#documents = new CachedDocuments(documents, clock, 'feed')
    this.#clock = clock
  }

  /** Makes an address and returns its secret part, of which only the hash is stored. */
  async create({ tenant, owner, keyId }: FeedHolder): Promise<string> {
    const token = `wf_${randomBytes(32).toString('base64url')}`
    const createdAt = this.#clock.now()
    await this.#documents.change(hashOf(token), tenant, () => ({ owner, keyId, createdAt }))
    return token
  }

  /** Whose calendar it is; null if the address is unknown. */
  async find(token: string): Promise<FeedHolder | null> {
    const kept = await this.#documents.get(hashOf(token))
    return kept === null
      ? null
      : { tenant: kept.tenant, owner: kept.value.owner, keyId: kept.value.keyId ?? null }
  }

  /** Removes all addresses of an owner; returns how many. */
  async removeAll({ tenant, owner }: Scope): Promise<number> {
    let [after, removed] = ['', 0]
    for (;;) {
      const page = await this.#documents.list(tenant, after, PAGE)
      for (const { name, value } of page)
        if (value.owner === owner && (await this.#documents.remove(name))) removed += 1
      if (page.length < PAGE) return removed
      after = page.at(-1)!.name
    }
  }
}
