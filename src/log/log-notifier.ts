import type { ReadScope, Scope } from '../alarm/index.ts'
import type { Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** News from other processes does not say whose log has grown, so every reader reads again: at most this often. */
const NOTIFY_EVERY_MS = 100

/** Wakes readers when their log may have grown: by this process, and while one watches, by others. */
export class LogNotifier {
  readonly #store: Pick<Store, 'onChange'>
  readonly #clock: Clock
  /** By tenant and owner, so that a reader is not woken by what others write. Null is a reader of all of them. */
  readonly #waiting = new Map<string | null, Map<string | null, Set<() => void>>>()
  #closed = false
  #watchers = 0
  #unwatch: () => void = () => {}
  #cancelPause: (() => void) | null = null
  #isOwed = false

  constructor(store: Pick<Store, 'onChange'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Ends every reader: nothing more will come. */
  close(): void {
    this.#closed = true
    this.notifyAll()
  }

  /** One owner's log may have grown. */
  notify({ tenant, owner }: Scope): void {
    this.#wake(tenant, owner)
    this.#wake(tenant, null)
    this.#wake(null, null)
  }

  notifyTenant(tenant: string): void {
    for (const owner of this.#waiting.get(tenant)?.keys() ?? []) this.#wake(tenant, owner)
    this.#wake(null, null)
  }

  /** Some log has grown, and it is not known whose. */
  notifyAll(): void {
    for (const [tenant, owners] of this.#waiting) for (const owner of owners.keys()) this.#wake(tenant, owner)
  }

  /** Resolves at this scope's next notification, or when the signal is aborted. Call it before you read, so that none is missed. */
  next(scope: ReadScope, signal?: AbortSignal): Promise<void> {
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

  /** Notifies of what other processes append as well, until the answer is called. */
  watch(): () => void {
    if (this.#watchers === 0) this.#unwatch = this.#store.onChange(() => this.#changed(), 'log')
    this.#watchers += 1
    return () => {
      this.#watchers -= 1
      if (this.#watchers > 0) return
      this.#unwatch()
      this.#cancelPause?.()
      this.#cancelPause = null
      this.#isOwed = false
    }
  }

  #wake(tenant: string | null, owner: string | null): void {
    for (const wake of this.#waiting.get(tenant)?.get(owner) ?? []) wake()
  }

  #add({ tenant, owner }: ReadScope, wake: () => void): void {
    const owners = this.#waiting.get(tenant) ?? new Map<string | null, Set<() => void>>()
    const readers = owners.get(owner) ?? new Set()
    this.#waiting.set(tenant, owners.set(owner, readers.add(wake)))
  }

  #remove({ tenant, owner }: ReadScope, wake: () => void): void {
    const owners = this.#waiting.get(tenant)
    const readers = owners?.get(owner)
    readers?.delete(wake)
    if (readers?.size === 0) owners!.delete(owner)
    if (owners?.size === 0) this.#waiting.delete(tenant)
  }

  #changed(): void {
    if (this.#cancelPause !== null) {
      this.#isOwed = true
      return
    }
    this.notifyAll()
    this.#cancelPause = this.#clock.setTimer(NOTIFY_EVERY_MS, () => {
      this.#cancelPause = null
      if (!this.#isOwed) return
      this.#isOwed = false
      this.#changed()
    })
  }
}
