import {
  type Alarm,
  bySerial,
  type Context,
  type EndStatus,
  type EventDraft,
  type Failure,
  type NewTimer,
  type Outcome,
  type Serial,
  type Timer,
  type TimerUpdate,
} from '../../../alarm/index.ts'
import {
  ALARM_COLUMNS,
  alarmValues,
  type ChangeWrites,
  eventValues,
  type OutcomeAlarm,
  outcomeValues,
  type StoredAlarm,
  Tallies,
  timerValues,
} from '../../index.ts'
import { type Bindable, columns, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import type { ShardMap } from './shard-map.ts'

/** Separates the data of events in `insertEvents`. */
export const EVENT_SEPARATOR = '\u0001'
/** Each tally has several rows, so that concurrent writers rarely wait for each other. */
const TALLY_SLOTS = 8

/** The statements that are sent before `insertAlarms`, and after it, in this order. */
const BEFORE_INSERT_ALARMS: readonly string[] = [
  sql.removeTimers,
  sql.removeTimersOfAlarms,
  sql.moveTimers,
  sql.markTimersEdited,
  sql.storeEarlyReports,
  sql.updateAlarms,
  sql.keepIdempotencyKeys,
  sql.retargetTimers,
]
const AFTER_INSERT_ALARMS: readonly string[] = [
  sql.insertTimers,
  sql.removeOutcomes,
  sql.putOutcomes,
  sql.putStatuses,
  sql.insertEvents,
  sql.restateFailures,
]

type Row = readonly (string | Serial | null)[]

interface OutcomeWrite {
  readonly alarm: OutcomeAlarm
  /** Null if only the status changes. */
  readonly outcome: Outcome | null
  readonly status: Outcome['status']
}

/** A timer to insert, with its alarm. */
interface TimerToInsert<A = StoredAlarm> {
  readonly alarm: A
  readonly timer: NewTimer
}

/** What every batch of a store shares. */
export interface StoreContext {
  readonly shards: ShardMap
  /** The time to use in place of the database's clock; null to use that clock. */
  readonly clockOverride: () => number | null
  readonly channel: string
  /** The notice to other processes that is sent with the commit of these wakes; null if they need none. */
  readonly noticeFor: (wakes: ReadonlyMap<number, number>, isUserTransaction: boolean) => string | null
}

/** Runs work in a transaction, writes what its batch has collected, and commits. */
export type RunInTransaction = <T>(work: (batch: WriteBatch) => Promise<T>) => Promise<T>

/** The writes of one transaction. They are collected and sent in few statements, however many alarms they concern. */
export class WriteBatch implements ChangeWrites {
  readonly session: Session
  /** The tallies of what was collected since the last `keepTallies`. */
  readonly tallies = new Tallies()
  /** The earliest wake that was written, by shard; also of writes that were rolled back. */
  readonly earliestWakes = new Map<number, number>()
  /** How many alarms and events were inserted: tables that grow fast need an ANALYZE. */
  insertedRows = 0
  readonly #context: StoreContext
  readonly #isUserTransaction: boolean
  readonly #keptTallies = new Tallies()
  /** Rows to send, by statement. */
  readonly #collected = new Map<string, Row[]>()
  readonly #outcomes = new Map<Serial, OutcomeWrite>()
  /** Alarms with a new target. The shard of their timers is looked up when they are sent. */
  readonly #retargeted = new Map<Serial, { alarm: StoredAlarm; timers: readonly Timer[] }>()
  #newTimers: TimerToInsert[] = []
  #newAlarms: TimerToInsert<Alarm>[] = []

  constructor(session: Session, context: StoreContext, isUserTransaction = false) {
    this.session = session
    this.#context = context
    this.#isUserTransaction = isUserTransaction
  }

  get clockOverride(): () => number | null {
    return this.#context.clockOverride
  }

  removeTimer(id: Serial): void {
    this.#collect(sql.removeTimers, [id])
  }

  removeTimersOf(alarm: Serial): void {
    this.#collect(sql.removeTimersOfAlarms, [alarm])
  }

  moveTimer(timer: Timer, move: TimerUpdate): void {
    const { wakeAt = timer.wakeAt } = move
    this.recordWake(timer.shard, wakeAt)
    this.#collect(sql.moveTimers, [timer.id, ...timerValues(timer, move)])
  }

  addTimer(alarm: StoredAlarm, timer: NewTimer): void {
    this.#newTimers.push({ alarm, timer })
  }

  markEdited(id: Serial): void {
    this.#collect(sql.markTimersEdited, [id])
  }

  storeEarlyReport(id: Serial, text: string): void {
    this.#collect(sql.storeEarlyReports, [id, text])
  }

  insertAlarm(alarm: Alarm, timer: NewTimer): void {
    this.#newAlarms.push({ alarm, timer })
    this.tallies.created(alarm)
  }

  replaceAlarm(before: StoredAlarm, after: Alarm): void {
    const { tenant, owner, idempotencyKey, seq } = before
    this.#collect(sql.updateAlarms, [seq, ...alarmValues(after)])
    if (idempotencyKey !== null && idempotencyKey !== after.idempotencyKey)
      this.#collect(sql.keepIdempotencyKeys, [tenant, owner, idempotencyKey, seq])
  }

  retarget(alarm: StoredAlarm, timers: readonly Timer[]): void {
    this.#retargeted.set(alarm.seq, { alarm, timers })
  }

  putOutcome(alarm: OutcomeAlarm, outcome: Outcome): void {
    // The last fire stays if a later outcome of the same batch has none.
    const before = this.#outcomes.get(alarm.seq)?.outcome?.lastFiredAt ?? null
    const lastFiredAt = outcome.lastFiredAt ?? before
    this.#outcomes.set(alarm.seq, { alarm, outcome: { ...outcome, lastFiredAt }, status: outcome.status })
  }

  putStatus(alarm: OutcomeAlarm, status: EndStatus): void {
    const outcome = this.#outcomes.get(alarm.seq)?.outcome ?? null
    this.#outcomes.set(alarm.seq, { alarm, outcome: outcome && { ...outcome, status }, status })
  }

  removeOutcome(alarm: Serial): void {
    this.#outcomes.delete(alarm)
    this.#collect(sql.removeOutcomes, [alarm])
  }

  addEvent(alarm: StoredAlarm, event: EventDraft, context: Context): void {
    this.addEventRow(eventValues(context.newId(), alarm, event))
  }

  restateFailure(alarm: Serial, was: Failure, is: Failure | null, occurrence: string | null): void {
    this.#collect(sql.restateFailures, [alarm, was, is, occurrence])
  }

  /** Adds an event that is already a row. */
  addEventRow(row: Row): void {
    this.insertedRows += 1
    this.#collect(sql.insertEvents, row)
  }

  /** Records that a timer of this shard wakes at this instant; null is none. */
  recordWake(shard: number, wakeAt: number | null): void {
    if (wakeAt !== null)
      this.earliestWakes.set(shard, Math.min(wakeAt, this.earliestWakes.get(shard) ?? wakeAt))
  }

  /** Notifies other processes when this is committed. */
  notify(notice: string): void {
    this.session.send(sql.notify, this.#context.channel, notice)
  }

  /**
   * Called when the rows of a savepoint were sent: their tallies are added at the commit, even if later work is rolled
   * back.
   */
  keepTallies(): void {
    this.#keptTallies.merge(this.tallies)
    this.tallies.drain()
  }

  /** Called when a savepoint was rolled back: drops what was collected in it. */
  discard(): void {
    this.tallies.drain()
    for (const collected of [this.#collected, this.#outcomes, this.#retargeted]) collected.clear()
    this.#newTimers = []
    this.#newAlarms = []
  }

  /** Writes what was collected so far, so that later statements see it. The tallies are written at the end. */
  async flush(): Promise<void> {
    await this.#flush(null)
    // Wakeful's own transactions await the answers at their commit. A user's transaction is committed by the user, so
    // await them here.
    if (this.#isUserTransaction) await this.session.acknowledged()
  }

  /**
   * Writes everything, and notifies other processes of what falls due before their next heartbeat: once per commit,
   * and with it.
   */
  async finish(): Promise<void> {
    this.keepTallies()
    await this.#flush(this.#drainTallies())
    const notice = this.#context.noticeFor(this.earliestWakes, this.#isUserTransaction)
    if (notice !== null) this.notify(notice)
    if (this.#isUserTransaction) await this.session.acknowledged()
  }

  /** The parameters of `addTallies`; null if nothing was counted. */
  #drainTallies(): Bindable[] | null {
    const tallies = this.#keptTallies.drain()
    if (tallies.length === 0) return null
    const rows = tallies.map(({ scope, sums }) => [scope.tenant, scope.owner, ...sums])
    // Null: a row of its own, so that nobody waits for the user's transaction.
    const slot = this.#isUserTransaction ? null : Math.floor(Math.random() * TALLY_SLOTS)
    return [slot, ...columns(rows)]
  }

  /**
   * Sends everything collected in one fixed order, and the tallies last: other transactions wait for the tallies'
   * rows until the commit. The caller awaits the answers.
   */
  async #flush(tallies: readonly Bindable[] | null): Promise<void> {
    await this.#context.shards.ensure(this.#pools())
    this.#collectRetargeted()
    this.#collectOutcomes()
    const newAlarms = this.#newAlarms.splice(0)
    this.insertedRows += newAlarms.length
    for (const text of BEFORE_INSERT_ALARMS) this.#send(text)
    // If nothing follows the new alarms, one statement inserts them and adds the tallies.
    const isLast = newAlarms.length > 0 && this.#newTimers.length + this.#collected.size === 0
    if (newAlarms.length > 0) this.#sendNewAlarms(newAlarms, isLast ? tallies : null)
    for (const { alarm, timer } of this.#newTimers.splice(0)) {
      const { seq, tenant, owner, target } = alarm
      const names = [seq, tenant, owner, target.name, this.#placeTimer(alarm, timer)]
      this.#collect(sql.insertTimers, [...names, ...timerValues(timer)])
    }
    for (const text of AFTER_INSERT_ALARMS) this.#send(text)
    if (tallies !== null && !isLast) this.session.send(sql.addTallies, ...tallies)
  }

  #collect(text: string, row: Row): void {
    const rows = this.#collected.get(text)
    if (rows === undefined) this.#collected.set(text, [row])
    else rows.push(row)
  }

  #send(text: string): void {
    let rows = this.#collected.get(text)
    if (rows === undefined) return
    this.#collected.delete(text)
    // An alarm that was replaced several times is written once, as it is now.
    if (text === sql.updateAlarms) rows = [...new Map(rows.map((row) => [row[0], row])).values()]
    const lists = columns(rows)
    if (text === sql.insertEvents) lists.push((lists.pop() as string[]).join(EVENT_SEPARATOR))
    this.session.send(text, ...lists)
  }

  *#pools(): Generator<string> {
    for (const { alarm } of this.#newAlarms) yield alarm.target.pool
    for (const { alarm } of this.#newTimers) yield alarm.target.pool
    for (const { alarm } of this.#retargeted.values()) yield alarm.target.pool
  }

  #collectRetargeted(): void {
    for (const { alarm, timers } of this.#retargeted.values()) {
      const { tenant, owner, seq, target, id } = alarm
      const shard = this.#context.shards.of(target.pool, id)
      this.#wakeInNewShard(timers, shard)
      this.#collect(sql.retargetTimers, [tenant, owner, seq, target.name, shard])
    }
    this.#retargeted.clear()
  }

  #sendNewAlarms(newAlarms: readonly TimerToInsert<Alarm>[], tallies: readonly Bindable[] | null): void {
    const lists = insertAlarmsParams(
      newAlarms.map(({ alarm }) => alarmValues(alarm)),
      newAlarms.map(({ alarm, timer }) => [this.#placeTimer(alarm, timer), ...timerValues(timer)]),
    )
    if (tallies === null) this.session.send(sql.insertAlarms, ...lists)
    else this.session.send(sql.insertAlarmsAndTallies, ...lists, ...tallies)
  }

  #collectOutcomes(): void {
    const outcomes = [...this.#outcomes.values()].sort((a, b) => bySerial(a.alarm.seq, b.alarm.seq))
    this.#outcomes.clear()
    for (const { alarm, outcome, status } of outcomes) {
      const named = [alarm.seq, alarm.tenant, alarm.owner, alarm.target.name]
      if (outcome === null) this.#collect(sql.putStatuses, [...named, status])
      else this.#collect(sql.putOutcomes, [...named, ...outcomeValues(outcome)])
    }
  }

  /** Returns the shard of a new timer, and records its wake there. */
  #placeTimer(alarm: Pick<Alarm, 'id' | 'target'>, timer: NewTimer): number {
    const shard = this.#context.shards.of(alarm.target.pool, alarm.id)
    this.recordWake(shard, timer.wakeAt)
    return shard
  }

  /**
   * Records the wakes of timers that move to another shard, whose holder does not know them. If this batch also moved one
   * to an earlier wake, that wake is recorded for the old shard: record it for the new one, too.
   */
  #wakeInNewShard(timers: readonly Timer[], newShard: number): void {
    for (const { shard: oldShard, wakeAt } of timers) {
      if (oldShard === newShard) continue
      this.recordWake(newShard, wakeAt)
      this.recordWake(newShard, this.earliestWakes.get(oldShard) ?? null)
    }
  }
}

const ID = ALARM_COLUMNS.indexOf('id')
const PAYLOAD = ALARM_COLUMNS.indexOf('payload')
const CORRELATION = ALARM_COLUMNS.indexOf('correlation_id')
/** Separates payloads: JSON cannot contain it. */
const PAYLOAD_SEPARATOR = '\u0001'
const EMPTY: readonly string[] = []

/**
 * The parameters of `insertAlarms`: the values of alarms, and the shards and values of their first timers. A column with the
 * same value in every row is sent as one value (`same`) and an empty list; the correlation ids, if each is the id of its alarm,
 * as an empty list without a value. There is at least one alarm.
 */
export function insertAlarmsParams(alarmRows: readonly Row[], timerRows: readonly Row[]): Bindable[] {
  const lists: (readonly (string | Serial | null)[])[] = []
  const same: (string | Serial | null)[] = []
  for (const rows of [alarmRows, timerRows]) {
    for (const [column, first] of rows[0]!.entries()) {
      const isConstant = lists.length !== ID && isConstantColumn(rows, column, first)
      lists.push(isConstant ? EMPTY : rows.map((row) => row[column]!))
      same.push(isConstant ? first : null)
    }
  }
  if (alarmRows.every((row) => row[CORRELATION] === row[ID])) lists[CORRELATION] = EMPTY
  const payloads = same[PAYLOAD] === null ? joined(lists[PAYLOAD] as (string | null)[]) : null
  if (payloads !== null) lists[PAYLOAD] = EMPTY
  return [...lists, ...same, payloads]
}

/** Called fifty times for a thousand rows: a loop takes a third of the time of a closure. */
function isConstantColumn(rows: readonly Row[], column: number, value: string | Serial | null): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i]![column] !== value) return false
  return true
}

/** Payloads as one text; null if one of them is not JSON, for instance because it was damaged in the database. */
function joined(payloads: readonly (string | null)[]): string | null {
  const canJoin = payloads.every((payload) => payload !== '' && !payload?.includes(PAYLOAD_SEPARATOR))
  return canJoin ? payloads.join(PAYLOAD_SEPARATOR) : null
}
