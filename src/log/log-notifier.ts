import type { Scope } from '../alarm/index.ts'

/** Rung when the log may have grown; readers wait for the next ring that may concern them. */
export class LogNotifier {
  /** By tenant and owner: what others write wakes nobody. */
  readonly #waiting = new Map<string, Map<string, Set<() => void>>>()
  #closed = false

  get isClosed(): boolean {
    return this.#closed
  }

  /** Lets every reader end: nothing more will come. */
  close(): void {
    this.#closed = true
    this.notifyAll()
  }

  /** One owner's log may have grown. */
  notify({ tenant, owner }: Scope): void {
    for (const wake of this.#waiting.get(tenant)?.get(owner) ?? []) wake()
  }

  notifyTenant(tenant: string): void {
    for (const owner of this.#waiting.get(tenant)?.keys() ?? []) this.notify({ tenant, owner })
  }

  /** Somebody's has, and nobody says whose. */
  notifyAll(): void {
    for (const tenant of this.#waiting.keys()) this.notifyTenant(tenant)
  }

  /** Resolves at the next ring for this owner, or when the signal is aborted. Asked for before the read, so that no ring is missed. */
  next(scope: Scope, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        this.#remove(scope, wake)
        resolve()
      }
      this.#add(scope, wake)
      signal?.addEventListener('abort', wake)
    })
  }

  #add({ tenant, owner }: Scope, wake: () => void): void {
    const owners = this.#waiting.get(tenant) ?? new Map<string, Set<() => void>>()
    const readers = owners.get(owner) ?? new Set()
    this.#waiting.set(tenant, owners.set(owner, readers.add(wake)))
  }

  #remove({ tenant, owner }: Scope, wake: () => void): void {
    const owners = this.#waiting.get(tenant)
    const readers = owners?.get(owner)
    readers?.delete(wake)
    if (readers?.size === 0) owners!.delete(owner)
    if (owners?.size === 0) this.#waiting.delete(tenant)
  }
}
