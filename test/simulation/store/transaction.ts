import { contention } from '../../../src/stores/postgres/connection/errors.ts'
import type { Step } from './journal.ts'

/** Thrown if a statement needs a row that another open transaction has locked. It waits for that transaction. */
export class Blocked extends Error {
  override readonly name = 'Blocked'
  readonly by: OpenTransaction

  constructor(by: OpenTransaction) {
    super('the row is locked')
    this.by = by
  }
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** Whether it belongs to a handler. A takeover from a dead process ends it, unless it has settled. */
  readonly isHandler?: boolean
  /** How long it may be idle between two statements. */
  readonly idleMsMax?: number
}

/**
 * A transaction over several statements: of a transactional handler, a user, or the lease protocol. Its writes are kept
 * as changes that only its own statements see applied.
 */
export class OpenTransaction {
  readonly process: string
  readonly isHandler: boolean
  readonly idleMsMax: number | undefined
  readonly steps: Step[] = []
  /** The rows it has locked, by name. */
  readonly rows = new Set<string>()
  /** The earliest wake it wrote, by shard. */
  readonly wakes = new Map<number, number>()
  /** Its idle timeout, in elapsed time. After it, a transaction that needs its rows ends it. */
  expiresAt = Number.POSITIVE_INFINITY
  readonly ended: Promise<void>
  #end: () => void
  #isOpen = true
  #waitsFor: OpenTransaction | null = null

  constructor(process: string, { isHandler = false, idleMsMax }: TransactionOptions) {
    this.process = process
    this.isHandler = isHandler
    this.idleMsMax = idleMsMax
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
  }

  /** Whether it has settled and only waits for its commit. */
  get isSettling(): boolean {
    return this.expiresAt < Number.POSITIVE_INFINITY
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  end(): void {
    this.#isOpen = false
    this.#end()
  }

  /** Waits for another transaction. Rejected if that one waits for this one (deadlock). */
  async waitFor(other: OpenTransaction): Promise<void> {
    for (let each: OpenTransaction | null = other; each !== null; each = each.#waitsFor) {
      if (each === this) throw contention('deadlock detected')
    }
    this.#waitsFor = other
    // Waiting for a lock is not idleness.
    this.expiresAt = Number.POSITIVE_INFINITY
    await other.ended
    this.#waitsFor = null
  }
}
