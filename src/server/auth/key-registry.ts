import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { CACHE_MS_MAX, type CachedDocument, CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { fits, keyIdOf, newKey } from './api-key.ts'

/** The tenant of keys that are for all of them. */
export const ALL_TENANTS = '*'

/** What is stored of a key. */
interface KeyRecord {
  readonly hash: string
  /** Null: a platform's, which names the owner per request. */
  readonly owner: string | null
  readonly rights: Rights
  readonly label: string
  readonly createdAt: number
  readonly createdBy: string | null
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** The one before the rotation, while it still holds. */
  readonly former: { readonly hash: string; readonly until: number } | null
}

/** A key as it may be shown. */
export interface KeyView extends Pick<KeyRecord, 'owner' | 'rights' | 'label' | 'createdBy'> {
  readonly id: string
  readonly tenant: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** What a new key is for. */
export interface KeyInput {
  readonly tenant: string
  readonly owner: string | null
  readonly rights: Rights
  readonly label: string
  readonly createdBy: string | null
  readonly expiresAt: number | null
}

/** The keys of a store. */
export class KeyRegistry {
  readonly #shelf: CachedDocuments<KeyRecord>
  readonly #clock: Clock
  #any: { readonly until: number; readonly found: Promise<boolean> } | null = null
  #changed: (id: string) => void = () => {}

  constructor(documents: Documents, clock: Clock) {
    this.#shelf = new CachedDocuments(documents, clock, 'key')
    this.#clock = clock
  }

  /** Tells whoever keeps what a key let in of each that is made, changed or ended here. */
  onChanged(listener: (id: string) => void): void {
    this.#changed = listener
  }

  /** Whether there are keys at all, perhaps as it was half a second ago. Once there were, there are: also revoked ones count. */
  hasKeys(): Promise<boolean> {
    const now = this.#clock.monotonic()
    if (this.#any === null || now >= this.#any.until) {
      const found = this.#shelf.list(null, '', 1).then((keys) => keys.length > 0)
      found.catch(() => {
        this.#any = null
      })
      this.#any = { until: now + CACHE_MS_MAX, found }
    }
    return this.#any.found
  }

  /** Makes a key, and answers with its text, which nobody can ask for again. */
  async create(given: KeyInput): Promise<{ key: string; view: KeyView }> {
    const { id, text, hash } = newKey()
    const { tenant, ...rest } = given
    const record = { hash, ...rest, createdAt: this.#clock.now(), revokedAt: null, former: null }
    const kept = await this.#shelf.change(id, tenant, () => record)
    this.#any = null
    this.#changed(id)
    return { key: text, view: viewOf(kept) }
  }

  /** Who a key's text belongs to; null where it is none that holds. */
  async find(text: string): Promise<KeyView | null> {
    const id = keyIdOf(text)
    const kept = id === null ? null : await this.#shelf.get(id)
    if (kept === null) return null
    const { hash, former } = kept.value
    const now = this.#clock.now()
    const isFormer = former !== null && now < former.until && fits(text, former.hash)
    if (!fits(text, hash) && !isFormer) return null
    return isLive(kept.value, now) ? viewOf(kept) : null
  }

  /** Whether a key that was found before still holds, by the text it then had: for those who stay connected. */
  async holds(id: string, textHash: string): Promise<boolean> {
    const kept = await this.#shelf.get(id)
    if (kept === null) return false
    const { hash, former } = kept.value
    const now = this.#clock.now()
    const isFormer = former !== null && now < former.until && former.hash === textHash
    if (hash !== textHash && !isFormer) return false
    return isLive(kept.value, now)
  }

  /** Whether a key is neither revoked nor expired, whatever its text is by now. */
  async isLive(id: string): Promise<boolean> {
    const kept = await this.#shelf.get(id)
    return kept !== null && isLive(kept.value, this.#clock.now())
  }

  async get(id: string): Promise<KeyView | null> {
    const kept = await this.#shelf.get(id)
    return kept === null ? null : viewOf(kept)
  }

  async list(tenant: string | null, after: string, limit: number): Promise<KeyView[]> {
    return (await this.#shelf.list(tenant, after, limit)).map(viewOf)
  }

  /** Gives a key another text; the former one holds for so long still. */
  async rotate(id: string, tenant: string, graceMs: number): Promise<{ key: string; view: KeyView }> {
    const { text, hash } = newKey(id)
    const kept = await this.#shelf.change(id, tenant, (before) => {
      if (before === null || before.revokedAt !== null)
        throw new WakefulError('already_ended', `the key ${id} is revoked: make another`)
      const former = graceMs === 0 ? null : { hash: before.hash, until: this.#clock.now() + graceMs }
      return { ...before, hash, former }
    })
    this.#changed(id)
    return { key: text, view: viewOf(kept) }
  }

  /** Ends a key. It stays in the list, so that a look at the past can be read. */
  async revoke(id: string, tenant: string): Promise<KeyView> {
    const kept = await this.#shelf.change(id, tenant, (before) => {
      if (before === null) throw new WakefulError('not_found', `there is no key ${id}`)
      return { ...before, former: null, revokedAt: before.revokedAt ?? this.#clock.now() }
    })
    this.#changed(id)
    return viewOf(kept)
  }
}

function isLive({ revokedAt, expiresAt }: KeyRecord, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt)
}

function viewOf({ name, tenant, value }: CachedDocument<KeyRecord>): KeyView {
  const { owner, rights, label, createdAt, createdBy, expiresAt, revokedAt } = value
  return {
    id: name,
    tenant,
    owner,
    rights,
    label,
    createdAt: new Date(createdAt),
    createdBy,
    expiresAt: dateOf(expiresAt),
    revokedAt: dateOf(revokedAt),
  }
}

function dateOf(at: number | null): Date | null {
  return at === null ? null : new Date(at)
}
