import { createHash, randomBytes } from 'node:crypto'
import type { Scope } from '../../alarm/index.ts'
import { CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'

/** Whose calendar it is, and by which key its address was made; null where there were none. */
export interface FeedHolder extends Scope {
  readonly keyId: string | null
}

interface FeedRecord {
  readonly owner: string
  readonly keyId: string | null
  readonly createdAt: number
}

const FEEDS_MAX = 500

/** Secret addresses of calendars: a calendar program can send no key, so the address itself is the secret. */
export class CalendarFeeds {
  readonly #shelf: CachedDocuments<FeedRecord>
  readonly #clock: Clock

  constructor(documents: Documents, clock: Clock) {
    this.#shelf = new CachedDocuments(documents, clock, 'feed')
    this.#clock = clock
  }

  /** Makes one, and answers with its secret part, which is stored as a hash. */
  async create({ tenant, owner, keyId }: FeedHolder): Promise<string> {
    const token = `wf_${randomBytes(32).toString('base64url')}`
    await this.#shelf.change(hashOf(token), tenant, () => ({ owner, keyId, createdAt: this.#clock.now() }))
    return token
  }

  /** Whose calendar it is; null where there is none. */
  async find(token: string): Promise<FeedHolder | null> {
    const kept = await this.#shelf.get(hashOf(token))
    return kept === null
      ? null
      : { tenant: kept.tenant, owner: kept.value.owner, keyId: kept.value.keyId ?? null }
  }

  /** Ends all of an owner's; answers how many. */
  async removeAll({ tenant, owner }: Scope): Promise<number> {
    let [after, removed] = ['', 0]
    for (;;) {
      const page = await this.#shelf.list(tenant, after, FEEDS_MAX)
      for (const { name, value } of page)
        if (value.owner === owner && (await this.#shelf.remove(name))) removed += 1
      if (page.length < FEEDS_MAX) return removed
      after = page.at(-1)!.name
    }
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
