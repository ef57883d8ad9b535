import { contention } from '../../../src/stores/postgres/connection/errors.ts'
import type { Step } from './journal.ts'

/** A statement needs a row that another open transaction has: it waits for that one's end. */
export class Blocked extends Error {
  override readonly name = 'Blocked'
  readonly by: OpenTransaction

  constructor(by: OpenTransaction) {
    super('the row is locked')
    this.by = by
  }
}

/** How a transaction is begun. */
export interface TransactionOptions {
  /** Whether it is a handler's: whoever takes over from a dead process ends it, until it settles. */
  readonly isHandler?: boolean
  /** How long it may stand still between two statements. */
  readonly idleMsMax?: number
}

/**
 * A transaction that stays open over several statements: a transactional handler's, a user's own, or one that edits shards. What it wrote is
 * kept as steps: its own statements see them made, nobody else does.
 */
export class OpenTransaction {
  readonly process: string
  readonly isHandler: boolean
  readonly idleMsMax: number | undefined
  readonly steps: Step[] = []
  /** The rows it has, by name: others wait for them. */
  readonly rows = new Set<string>()
  /** The earliest wake it wrote, by shard. */
  readonly wakes = new Map<number, number>()
  /** By what passes at the database: from then on whoever needs its rows ends it. */
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

  /** Waits for another to end; refused where that one waits for this one. */
  async waitFor(other: OpenTransaction): Promise<void> {
    for (let each: OpenTransaction | null = other; each !== null; each = each.#waitsFor) {
      if (each === this) throw contention('deadlock detected')
    }
    this.#waitsFor = other
    // It does not stand still, it waits.
    this.expiresAt = Number.POSITIVE_INFINITY
    await other.ended
    this.#waitsFor = null
  }
}
