import { WakefulError } from '../../../src/error.ts'
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

/**
 * A transaction that stays open over several statements: a transactional handler's, or a user's own. What it wrote is
 * kept as steps: its own statements see them made, nobody else does.
 */
export class OpenTransaction {
  readonly process: string
  readonly isHandler: boolean
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

  /** `isHandler` says that it is a handler's: whoever takes over from a dead owner ends it, until it settles. */
  constructor(process: string, isHandler = false) {
    this.process = process
    this.isHandler = isHandler
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
      if (each === this)
        throw new WakefulError('store_unavailable', 'two transactions waited for each other: try again')
    }
    this.#waitsFor = other
    await other.ended
    this.#waitsFor = null
  }
}
