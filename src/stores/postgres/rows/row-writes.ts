import {
  type Alarm,
  bySerial,
  type Context,
  type EventDraft,
  eventJson,
  type NewTimer,
  type Outcome,
  type Serial,
  type Timer,
} from '../../../alarm/index.ts'
import { alarmValues, type StoredAlarm, Tallies } from '../../index.ts'
import type { Bindable, Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { insertAlarms, insertAlarmsAndFigures, newAlarmLists } from './new-alarms.ts'
import type { ShardMap } from './shard-map.ts'

/** Separates the data of events in `insertEvents`. */
export const EVENT_SEPARATOR = '\u0001'

type Row = readonly (string | Serial | null)[]

/** A timer to insert, and its alarm. */
interface NewRow {
  readonly alarm: Pick<StoredAlarm, 'seq' | 'id' | 'tenant' | 'owner' | 'target'>
  readonly timer: NewTimer
}

/**
 * Collects what decisions write, and writes it in few statements, however many alarms it concerns. The transaction
 * around `flush` makes it atomic.
 */
export class Writes {
  readonly tallies = new Tallies()
  readonly #shards: ShardMap
  /** The earliest wake that was written, by shard. */
  readonly wakes = new Map<number, number>()
  /** The number of alarms and events that were written. */
  rows = 0
  #removed: Serial[] = []
  #removedOf: Serial[] = []
  #moved: Timer[] = []
  #added: NewRow[] = []
  #made: { alarm: Alarm; timer: NewTimer }[] = []
  #edited: Serial[] = []
  #reported: Row[] = []
  #replaced = new Map<Serial, { seq: Serial; alarm: Alarm }>()
  #kept: Row[] = []
  #retargeted = new Map<Serial, { alarm: StoredAlarm; timers: readonly Timer[] }>()
  #outcomes = new Map<Serial, OutcomeWrite>()
  #forgotten: Serial[] = []
  #events: Row[] = []

  constructor(shards: ShardMap) {
    this.#shards = shards
  }

  removeTimer(id: Serial): void {
    this.#removed.push(id)
  }

  removeTimersOf(alarm: Serial): void {
    this.#removedOf.push(alarm)
  }

  moveTimer(timer: Timer): void {
    this.#moved.push(timer)
  }

  addTimer(alarm: NewRow['alarm'], timer: NewTimer): void {
    this.#added.push({ alarm, timer })
  }

  markEdited(id: Serial): void {
    this.#edited.push(id)
  }

  report(id: Serial, text: string): void {
    this.#reported.push([id, text])
  }

  /** A new alarm with its first timer. */
  insertAlarm(alarm: Alarm, timer: NewTimer): void {
    this.#made.push({ alarm, timer })
    this.tallies.created(alarm)
  }

  replaceAlarm(before: StoredAlarm, after: Alarm): void {
    this.#replaced.set(before.seq, { seq: before.seq, alarm: after })
    const { tenant, owner, idempotencyKey, seq } = before
    if (idempotencyKey !== null && idempotencyKey !== after.idempotencyKey)
      this.#kept.push([tenant, owner, idempotencyKey, seq])
  }

  /** Moves the alarm's timers to its new target. */
  retarget(alarm: StoredAlarm, timers: readonly Timer[]): void {
    this.#retargeted.set(alarm.seq, { alarm, timers })
  }

  putOutcome(alarm: OutcomeAlarm, outcome: Outcome): void {
    // The last fire stays if a later outcome of the same batch has none.
    const before = this.#outcomes.get(alarm.seq)?.outcome?.lastFiredAt ?? null
    const lastFiredAt = outcome.lastFiredAt ?? before
    this.#outcomes.set(alarm.seq, { alarm, outcome: { ...outcome, lastFiredAt }, status: outcome.status })
  }

  /** Ends the alarm, and leaves the rest of its summary as it is. */
  putStatus(alarm: OutcomeAlarm, status: NonNullable<Outcome['status']>): void {
    const outcome = this.#outcomes.get(alarm.seq)?.outcome ?? null
    this.#outcomes.set(alarm.seq, { alarm, outcome: outcome && { ...outcome, status }, status })
  }

  removeOutcome(alarm: Serial): void {
    this.#outcomes.delete(alarm)
    this.#forgotten.push(alarm)
  }

  addEvent(alarm: StoredAlarm, event: EventDraft, context: Context): void {
    const { tenant, owner, seq, subject, correlationId } = alarm
    const { type, origin, occurrence, at } = event
    const names = [context.newId(), tenant, owner, type, origin, seq, occurrence, subject, correlationId]
    this.#events.push([...names, at, eventJson(event)])
  }

  /** An event that is a row already. */
  addEventRow(row: Row): void {
    this.#events.push(row)
  }

  /**
   * Sends everything collected in one fixed order, and the tallies last: other transactions wait for the tallies'
   * rows until the commit. The caller awaits the answers.
   */
  async flush(session: Session, figures: readonly Bindable[] | null = null): Promise<void> {
    await this.#shards.ensure(this.#pools())
    this.rows += this.#made.length + this.#events.length
    this.#flushTimers(session)
    this.#flushAlarms(session)
    const isLast = this.#made.length > 0 && !this.#hasMore()
    this.#flushMade(session, isLast ? figures : null)
    this.#flushAdded(session)
    this.#flushOutcomes(session)
    this.#flushEvents(session)
    if (figures !== null && !isLast) session.send(sql.addTallies, ...figures)
  }

  /** Whether something is written after the new alarms. */
  #hasMore(): boolean {
    const listed = this.#added.length + this.#forgotten.length + this.#events.length
    return listed + this.#outcomes.size > 0
  }

  #flushEvents(session: Session): void {
    if (this.#events.length === 0) return
    const lists = columns(this.#events.splice(0))
    const data = lists.pop() as readonly string[]
    session.send(sql.insertEvents, ...lists, data.join(EVENT_SEPARATOR))
  }

  *#pools(): Generator<string> {
    for (const { alarm } of this.#made) yield alarm.target.pool
    for (const { alarm } of this.#added) yield alarm.target.pool
    for (const { alarm } of this.#retargeted.values()) yield alarm.target.pool
  }

  #flushTimers(session: Session): void {
    const send = (text: string, rows: readonly Row[]) => sendLists(session, text, rows)
    if (this.#removed.length > 0) session.send(sql.removeTimers, this.#removed.splice(0))
    if (this.#removedOf.length > 0) session.send(sql.removeTimersOfAlarms, this.#removedOf.splice(0))
    for (const timer of this.#moved) this.wake(timer.shard, timer.wakeAt)
    send(
      sql.moveTimers,
      this.#moved.splice(0).map((timer) => positionValues(timer, timer.id)),
    )
    if (this.#edited.length > 0) session.send(sql.markTimersEdited, this.#edited.splice(0))
    send(sql.reportTimers, this.#reported.splice(0))
  }

  #flushAlarms(session: Session): void {
    const replaced = [...this.#replaced.values()].map(({ seq, alarm }) => [seq, ...alarmValues(alarm)])
    sendLists(session, sql.updateAlarms, replaced)
    sendLists(session, sql.keepIdempotencyKeys, this.#kept.splice(0))
    const retargeted = [...this.#retargeted.values()].map(({ alarm, timers }) => {
      const { tenant, owner, seq, target, id } = alarm
      const shard = this.#shards.of(target.pool, id)
      this.#wakeElsewhere(timers, shard)
      return [tenant, owner, seq, target.name, shard]
    })
    sendLists(session, sql.retargetTimers, retargeted)
    this.#replaced.clear()
    this.#retargeted.clear()
  }

  #flushMade(session: Session, figures: readonly Bindable[] | null): void {
    const made = this.#made.splice(0)
    if (made.length === 0) return
    const lists = newAlarmLists(
      made.map(({ alarm }) => alarmValues(alarm)),
      made.map(({ alarm, timer }) => positionValues(timer, this.#shardOf(alarm, timer))),
    )
    if (figures === null) session.send(insertAlarms, ...lists)
    else session.send(insertAlarmsAndFigures, ...lists, ...figures)
  }

  #flushAdded(session: Session): void {
    const added = this.#added.splice(0).map(({ alarm, timer }): Row => {
      const { seq, tenant, owner, target } = alarm
      return positionValues(timer, seq, tenant, owner, target.name, this.#shardOf(alarm, timer))
    })
    sendLists(session, sql.insertTimers, added)
  }

  #flushOutcomes(session: Session): void {
    if (this.#forgotten.length > 0) session.send(sql.removeOutcomes, this.#forgotten.splice(0))
    const outcomes = [...this.#outcomes.values()].sort((a, b) => bySerial(a.alarm.seq, b.alarm.seq))
    this.#outcomes.clear()
    const named = ({ seq, tenant, owner, target }: OutcomeAlarm) => [seq, tenant, owner, target.name]
    const whole = outcomes.flatMap(({ alarm, outcome }) =>
      outcome === null ? [] : [[...named(alarm), ...outcomeValues(outcome)]],
    )
    const statuses = outcomes.flatMap(({ alarm, outcome, status }) =>
      outcome === null ? [[...named(alarm), status]] : [],
    )
    sendLists(session, sql.putOutcomes, whole)
    sendLists(session, sql.putStatuses, statuses)
  }

  #shardOf(alarm: Pick<Alarm, 'id' | 'target'>, timer: NewTimer): number {
    const shard = this.#shards.of(alarm.target.pool, alarm.id)
    this.wake(shard, timer.wakeAt)
    return shard
  }

  /**
   * The holder of the other shard does not know these timers: neither their wake times, nor that they were just
   * moved.
   */
  #wakeElsewhere(timers: readonly Timer[], shard: number): void {
    for (const { shard: from, wakeAt } of timers) {
      if (from === shard) continue
      this.wake(shard, wakeAt)
      this.wake(shard, this.wakes.get(from) ?? null)
    }
  }

  /** Notes a wake in a shard. */
  wake(shard: number, wakeAt: number | null): void {
    if (wakeAt === null) return
    const known = this.wakes.get(shard)
    if (known === undefined || wakeAt < known) this.wakes.set(shard, wakeAt)
  }
}

type OutcomeAlarm = Pick<StoredAlarm, 'seq' | 'tenant' | 'owner'> & {
  readonly target: { readonly name: string }
}

interface OutcomeWrite {
  readonly alarm: OutcomeAlarm
  /** Null if only the status changes. */
  readonly outcome: Outcome | null
  readonly status: Outcome['status']
}

/** A timer's values in the order of the statements, after the given ones. */
export function positionValues(timer: NewTimer, ...before: readonly (string | Serial)[]): Row {
  const { kind, wakeAt, scheduledFor, nominal, zoneOffset, floor, tick, generation, attempt } = timer
  const { startedAt, waiting, delivered } = timer
  const flag = delivered ? 1 : 0
  return [
    ...before, kind, wakeAt, scheduledFor, nominal, zoneOffset, floor, tick, generation, attempt, startedAt, waiting, flag,
  ] // biome-ignore format: a list
}

function outcomeValues(outcome: Outcome): Row {
  const { status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError } = outcome
  const { failureCount, attempts } = outcome
  return [status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError, failureCount, attempts]
}

function sendLists(session: Session, text: string, rows: readonly Row[]): void {
  if (rows.length > 0) session.send(text, ...columns(rows))
}

/** Rows as one array per column. */
export function columns(rows: readonly Row[]): Bindable[] {
  return rows[0]!.map((_, column) => rows.map((row) => row[column]!))
}
