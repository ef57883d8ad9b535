import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type CachedDocument, CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'

/** The tenant of keys that are valid for all tenants. */
export const ALL_TENANTS = '*'

const KEY = /^wk_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/

/** What is stored of a key: of its text only the hash. */
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
export interface KeyInput extends Pick<KeyRecord, 'owner' | 'rights' | 'label' | 'createdBy' | 'expiresAt'> {
  readonly tenant: string
}

/** The keys of a store. */
export class KeyRegistry {
  readonly #documents: CachedDocuments<KeyRecord>
  readonly #clock: Clock
  readonly #listeners: ((id: string) => void)[] = []

  constructor(documents: Documents, clock: Clock) {
    this.#documents = new CachedDocuments(documents, clock, 'key')
    this.#clock = clock
  }

  /** Calls the listener with the id of each key that is created, changed or revoked here. */
  onChanged(listener: (id: string) => void): void {
    this.#listeners.push(listener)
  }

  /** Whether there are any keys, revoked ones included. */
  async hasKeys(): Promise<boolean> {
    return (await this.#documents.list(null, '', 1)).length > 0
  }

  /** Makes a key and returns its text, which cannot be read again. */
  async create({ tenant, ...input }: KeyInput): Promise<{ key: string; view: KeyView }> {
    const id = randomBytes(8).toString('hex')
    const key = newText(id)
    const record = {
      hash: hashOf(key),
      ...input,
      createdAt: this.#clock.now(),
      revokedAt: null,
      former: null,
    }
    return { key, view: await this.#change(id, tenant, () => record) }
  }

  /** The key with this text; null if it is unknown or no longer valid. */
  async find(text: string): Promise<KeyView | null> {
    const id = KEY.exec(text)?.[1]
    return id === undefined ? null : this.findByHash(id, hashOf(text))
  }

  /** The key whose text has this hash; null if it is no longer valid, or has got another text. */
  async findByHash(id: string, textHash: string): Promise<KeyView | null> {
    const kept = await this.#documents.get(id)
    if (kept === null) return null
    const { hash, former } = kept.value
    const now = this.#clock.now()
    const isFormer = former !== null && now < former.until && isSameHash(former.hash, textHash)
    return (isFormer || isSameHash(hash, textHash)) && isLive(kept.value, now) ? viewOf(kept) : null
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
    const key = newText(id)
    const view = await this.#change(id, tenant, (before) => {
      if (before === null || before.revokedAt !== null) throw new WakefulError('key.revoked', { id })
      const former = graceMs === 0 ? null : { hash: before.hash, until: this.#clock.now() + graceMs }
      return { ...before, hash: hashOf(key), former }
    })
    return { key, view }
  }

  /** Revokes a key. It stays in the list, so that old audit events can be understood. */
  revoke(id: string, tenant: string): Promise<KeyView> {
    return this.#change(id, tenant, (before) => {
      if (before === null) throw new WakefulError('key.not_found', { id })
      return { ...before, former: null, revokedAt: before.revokedAt ?? this.#clock.now() }
    })
  }

  async #change(
    id: string,
    tenant: string,
    change: (before: KeyRecord | null) => KeyRecord,
  ): Promise<KeyView> {
    const kept = await this.#documents.change(id, tenant, change)
    for (const listener of this.#listeners) listener(id)
    return viewOf(kept)
  }
}

/** The text of a key: its public id, which may be shown, logged and listed, and 256 random bits. It is shown once. */
function newText(id: string): string {
  return `wk_${id}_${randomBytes(32).toString('base64url')}`
}

/** The hash by which a secret is known. Its 256 random bits need no salt and no slow hash. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Compares in constant time. */
function isSameHash(stored: string, actual: string): boolean {
  const [a, b] = [Buffer.from(stored, 'hex'), Buffer.from(actual, 'hex')]
  return a.length === b.length && timingSafeEqual(a, b)
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
