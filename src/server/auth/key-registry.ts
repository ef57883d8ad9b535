import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { CACHE_MS_MAX, type CachedDocument, CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { keyIdOf, matches, newKey } from './api-key.ts'

/** The tenant of keys that are valid for all tenants. */
export const ALL_TENANTS = '*'

/** What is stored of a key. */
interface KeyRecord {
  readonly hash: string
  /** Null for a platform's key, which names the owner in each request. */
  readonly owner: string | null
  readonly rights: Rights
  readonly label: string
  readonly createdAt: number
  readonly createdBy: string | null
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** The one before the rotation, while it is still valid. */
  readonly former: { readonly hash: string; readonly until: number } | null
}

/** A key without its secret part. */
export interface KeyView extends Pick<KeyRecord, 'owner' | 'rights' | 'label' | 'createdBy'> {
  readonly id: string
  readonly tenant: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** The properties of a new key. */
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
  readonly #documents: CachedDocuments<KeyRecord>
  readonly #clock: Clock
  #any: { readonly until: number; readonly found: Promise<boolean> } | null = null
  #changed: (id: string) => void = () => {}

  constructor(documents: Documents, clock: Clock) {
    this.#documents = new CachedDocuments(documents, clock, 'key')
    this.#clock = clock
  }

  /** Calls the listener with the id of each key that is created, changed or revoked here. */
  onChanged(listener: (id: string) => void): void {
    this.#changed = listener
  }

  /** Whether there are any keys, revoked ones included. The answer may be half a second old. */
  hasKeys(): Promise<boolean> {
    const now = this.#clock.monotonic()
    if (this.#any === null || now >= this.#any.until) {
      const found = this.#documents.list(null, '', 1).then((keys) => keys.length > 0)
      found.catch(() => {
        this.#any = null
      })
      this.#any = { until: now + CACHE_MS_MAX, found }
    }
    return this.#any.found
  }

  /** Makes a key and returns its text, which cannot be read again. */
  async create(input: KeyInput): Promise<{ key: string; view: KeyView }> {
    const { id, text, hash } = newKey()
    const { tenant, ...rest } = input
    const record = { hash, ...rest, createdAt: this.#clock.now(), revokedAt: null, former: null }
    const kept = await this.#documents.change(id, tenant, () => record)
    this.#any = null
    this.#changed(id)
    return { key: text, view: viewOf(kept) }
  }

  /** The key with this text; null if it is unknown or no longer valid. */
  async find(text: string): Promise<KeyView | null> {
    const id = keyIdOf(text)
    const kept = id === null ? null : await this.#documents.get(id)
    if (kept === null) return null
    const { hash, former } = kept.value
    const now = this.#clock.now()
    const isFormer = former !== null && now < former.until && matches(text, former.hash)
    if (!matches(text, hash) && !isFormer) return null
    return isLive(kept.value, now) ? viewOf(kept) : null
  }

  /** Whether a key is still valid with the text it had when a connection was opened. */
  async isCurrent(id: string, textHash: string): Promise<boolean> {
    const kept = await this.#documents.get(id)
    if (kept === null) return false
    const { hash, former } = kept.value
    const now = this.#clock.now()
    const isFormer = former !== null && now < former.until && former.hash === textHash
    if (hash !== textHash && !isFormer) return false
    return isLive(kept.value, now)
  }

  /** Whether a key is neither revoked nor expired, whatever its text is by now. */
  async isLive(id: string): Promise<boolean> {
    const kept = await this.#documents.get(id)
    return kept !== null && isLive(kept.value, this.#clock.now())
  }

  async get(id: string): Promise<KeyView | null> {
    const kept = await this.#documents.get(id)
    return kept === null ? null : viewOf(kept)
  }

  async list(tenant: string | null, after: string, limit: number): Promise<KeyView[]> {
    return (await this.#documents.list(tenant, after, limit)).map(viewOf)
  }

  /** Gives a key another text. The former one stays valid for the grace period. */
  async rotate(id: string, tenant: string, graceMs: number): Promise<{ key: string; view: KeyView }> {
    const { text, hash } = newKey(id)
    const kept = await this.#documents.change(id, tenant, (before) => {
      if (before === null || before.revokedAt !== null) throw new WakefulError('key.revoked', { id })
      const former = graceMs === 0 ? null : { hash: before.hash, until: this.#clock.now() + graceMs }
      return { ...before, hash, former }
    })
    this.#changed(id)
    return { key: text, view: viewOf(kept) }
  }

  /** Revokes a key. It stays in the list, so that old audit events can be understood. */
  async revoke(id: string, tenant: string): Promise<KeyView> {
    const kept = await this.#documents.change(id, tenant, (before) => {
      if (before === null) throw new WakefulError('key.not_found', { id })
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
