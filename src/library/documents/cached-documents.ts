import { WakefulError } from '../../error.ts'
import type { Document, Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { KeyedQueue } from './keyed-queue.ts'

/** How old a copy may be: what is revoked or changed elsewhere takes effect here within a second. */
export const CACHE_MS_MAX = 500
const COPIES_MAX = 10_000
const CHANGE_ATTEMPTS_MAX = 5

/** A document's value, read. */
export interface CachedDocument<T> {
  readonly name: string
  readonly tenant: string
  readonly value: T
  readonly version: number
  readonly updatedAt: number
}

interface Copy<T> {
  readonly until: number
  readonly found: Promise<CachedDocument<T> | null>
}

/** The documents of one kind, each read through a copy that is half a second old at most. */
export class CachedDocuments<T> {
  readonly #documents: Documents
  readonly #clock: Clock
  readonly #kind: string
  readonly #copies = new Map<string, Copy<T>>()
  readonly #changes = new KeyedQueue()

  constructor(documents: Documents, clock: Clock, kind: string) {
    this.#documents = documents
    this.#clock = clock
    this.#kind = kind
  }

  /** The document of this name, perhaps as it was half a second ago. */
  get(name: string): Promise<CachedDocument<T> | null> {
    const now = this.#clock.monotonic()
    const copy = this.#copies.get(name)
    if (copy !== undefined && now < copy.until) return copy.found
    const found = this.#read(name)
    // The next call reads again if this read failed.
    found.catch(() => this.#copies.delete(name))
    this.#copies.delete(name)
    this.#copies.set(name, { until: now + CACHE_MS_MAX, found })
    if (this.#copies.size > COPIES_MAX) this.#copies.delete(this.#copies.keys().next().value!)
    return found
  }

  /** Those of a tenant, or of all, by name. */
  async list(tenant: string | null, after = '', limit = 500): Promise<CachedDocument<T>[]> {
    const found = await this.#documents.listDocuments(this.#kind, tenant, after, limit)
    return found.map((each) => kept<T>(each))
  }

  /** Reads the document, applies the change and writes it; if another process was faster, again. */
  change(name: string, tenant: string, change: (value: T | null) => T): Promise<CachedDocument<T>> {
    return this.#changes.run(name, () => this.#tryChange(name, tenant, change))
  }

  async #tryChange(name: string, tenant: string, change: (value: T | null) => T): Promise<CachedDocument<T>> {
    for (let attempts = 0; attempts < CHANGE_ATTEMPTS_MAX; attempts++) {
      const before = await this.#read(name)
      const value = JSON.stringify(change(before?.value ?? null))
      const document = { kind: this.#kind, name, tenant, value }
      const written = await this.#documents.putDocument(document, this.#clock.now(), before?.version ?? 0)
      this.#copies.delete(name)
      if (written !== null) return kept<T>(written)
    }
    throw new WakefulError('document.contended', { kind: this.#kind, name: JSON.stringify(name) })
  }

  /** False where there is none. */
  async remove(name: string): Promise<boolean> {
    const removed = await this.#documents.removeDocument(this.#kind, name)
    this.#copies.delete(name)
    return removed
  }

  async #read(name: string): Promise<CachedDocument<T> | null> {
    const found = await this.#documents.getDocument(this.#kind, name)
    return found === null ? null : kept<T>(found)
  }
}

function kept<T>({ name, tenant, value, version, updatedAt }: Document): CachedDocument<T> {
  return { name, tenant, value: JSON.parse(value) as T, version, updatedAt }
}
