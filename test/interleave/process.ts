import type {
  CancelOutcome,
  Change,
  Context,
  DeliveryOutcome,
  Serial,
  SetOptions,
  Snapshot,
} from '../../src/alarm/index.ts'
import type { InFlightSet } from '../../src/engine/in-flight-set.ts'
import type { DeliveryKind, Harness } from '../../src/stores/conformance/harness.ts'
import { ANN } from '../../src/stores/conformance/harness.ts'
import type {
  Claimed,
  ClaimedTimer,
  Lease,
  Selector,
  SetResult,
  SettleResult,
  Store,
} from '../../src/stores/index.ts'
import type { When } from '../../src/time/index.ts'
import type { Interceptor } from './interceptor.ts'
import type { NewNote } from './notes.ts'

type Cancel = (found: Snapshot, context: Context) => { change: Change; outcome: CancelOutcome }

/** A user's connection. */
interface Client {
  query(text: string): Promise<unknown>
}

async function inTransaction<T>(tx: Client, work: () => Promise<T>): Promise<T> {
  await tx.query('BEGIN')
  try {
    const answer = await work()
    await tx.query('COMMIT')
    return answer
  } catch (thrown) {
    await tx.query('ROLLBACK')
    throw thrown
  }
}

/** The pool of the scenarios' alarms. Each pool of these worlds is one shard. */
const POOL: readonly string[] = ['app']

/** One process of a scenario, with its own store and interceptor. All answers it gets are recorded. */
export class Process {
  readonly name: string
  readonly bench: Harness
  readonly interceptor: Interceptor
  readonly #note: (note: NewNote) => void

  constructor(name: string, bench: Harness, interceptor: Interceptor, note: (note: NewNote) => void) {
    this.name = name
    this.bench = bench
    this.interceptor = interceptor
    this.#note = note
  }

  get store(): Store {
    return this.bench.store
  }

  async acquire(owner = this.name, pools = POOL): Promise<Lease[]> {
    const leases = await this.#asked('acquire', () => this.bench.heartbeat(owner, pools))
    this.#note({ kind: 'acquire', owner, leases })
    return leases
  }

  /** The holder of these leases leaves, as an engine does when it stops. */
  async release(leases: readonly Lease[]): Promise<void> {
    await this.#asked('release', () => this.store.leave(leases[0]!.holder))
    this.#note({ kind: 'release', leases })
  }

  /** Claims as the engine does: timers in flight are excluded, and claimed ones are added to them. */
  async claim(leases: readonly Lease[], inFlight?: InFlightSet): Promise<Claimed> {
    const number = inFlight?.claimStarted()
    try {
      const claimed = await this.#asked('claim', () =>
        this.bench.claim(leases, inFlight && { inFlight: inFlight }),
      )
      for (const { timer } of claimed.timers) inFlight?.add(timer.id, timer.version)
      this.#note({ kind: 'claim', claimed })
      return claimed
    } finally {
      if (number !== undefined) inFlight!.claimEnded(number)
    }
  }

  /** Settles. Repeats the settle if the answer was lost, as the engine does. */
  async settle(
    claimedTimers: readonly ClaimedTimer[],
    outcome: DeliveryKind | DeliveryOutcome = 'delivered',
    inFlight?: InFlightSet,
  ): Promise<SettleResult> {
    const delivery = typeof outcome === 'string' ? this.bench.delivery(outcome) : outcome
    const settlements = claimedTimers.map(({ lease, alarm, timer }) => ({ lease, alarm, timer, delivery }))
    const batches = [...new Set(claimedTimers.map(({ batch }) => batch))]
    const settle = () => this.store.settle(settlements, batches, this.bench.context())
    let settled: SettleResult
    try {
      settled = await settle()
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== 'store_unavailable') throw this.#refused('settle', thrown)
      settled = await this.#asked('settle again', settle)
    }
    for (const { timer } of claimedTimers) inFlight?.settled(timer.id, timer.version)
    this.#note({ kind: 'settle', settlements, settled })
    return settled
  }

  async cancel(alarmId: string): Promise<void> {
    const outcome = await this.#asked('cancel', () => this.bench.cancel(alarmId))
    this.#note({ kind: 'cancel', alarmId, outcome })
  }

  async set(when: When, options: SetOptions = {}): Promise<SetResult> {
    const answer = await this.#asked('set', () => this.bench.set(when, options))
    this.#note({ kind: 'set', answer })
    return answer
  }

  async edit(what: string, id: string, decide: (found: Snapshot, context: Context) => Change): Promise<void> {
    const found = await this.#asked(what, () => this.bench.edit(id, decide))
    this.#note({ kind: 'edit', what, found })
  }

  /** Cancels all alarms of a subject, in batches. */
  async cancelSubject(subject: string, limit: number, cancel: Cancel): Promise<void> {
    let after: Serial | null = 0
    while (after !== null) after = await this.#cancelPiece({ subject, after, limit }, cancel)
  }

  async #cancelPiece(which: Selector, cancel: Cancel): Promise<Serial | null> {
    const context = this.bench.context()
    const decide = (found: Snapshot) => {
      const { change, outcome } = cancel(found, context)
      return { change, answer: { outcome, alarmId: found.alarm.id } }
    }
    const edited = await this.#asked('cancel subject', () => this.store.edit(ANN, which, decide, context))
    for (const { answer } of edited.results) this.#note({ kind: 'cancel', ...answer })
    return edited.next
  }

  /** Sets by key in a user's transaction. */
  async setInTransaction(tx: Client, when: When, options: SetOptions): Promise<void> {
    const request = this.bench.request(when, options)
    const work = () => this.store.set([request], this.bench.context(), tx)
    const [answer] = await this.#asked('set in transaction', () => inTransaction(tx, work))
    this.#note({ kind: 'set', answer: answer! })
  }

  /** Cancels in a user's transaction. */
  async cancelInTransaction(tx: Client, alarmId: string, cancel: Cancel): Promise<void> {
    const context = this.bench.context()
    const decide = (found: Snapshot) => {
      const { change, outcome } = cancel(found, context)
      return { change, answer: outcome }
    }
    const work = () => this.store.edit(ANN, { id: alarmId }, decide, context, tx)
    const edited = await this.#asked('cancel in transaction', () => inTransaction(tx, work))
    this.#note({ kind: 'cancel', alarmId, outcome: edited.results[0]?.answer })
  }

  /** Any other call, recorded as an edit. */
  async does<T>(what: string, work: () => Promise<T>): Promise<T> {
    const answer = await this.#asked(what, work)
    this.#note({ kind: 'edit', what, found: true })
    return answer
  }

  /** Delivers in a transaction that commits with its settle. */
  async transact({ lease, alarm, timer }: ClaimedTimer): Promise<void> {
    const settlement = { lease, alarm, timer, delivery: this.bench.delivery('delivered') }
    const work = () => this.store.transact(lease, () => Promise.resolve(settlement), this.bench.context)
    const settled = await this.#asked('transact', work)
    this.#note({ kind: 'settle', settlements: [settlement], settled })
  }

  async #asked<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw this.#refused(what, thrown)
    }
  }

  #refused(what: string, thrown: unknown): unknown {
    const { code = 'error', message } = thrown as { code?: string; message: string }
    this.#note({ kind: 'failed', what, code, message })
    return thrown
  }
}
