import {
  type Alarm,
  type Context,
  type EventDraft,
  eventJson,
  type Failure,
  type NewTimer,
  NO_CALENDARS,
  NO_OUTCOME,
  type Outcome,
  type Serial,
  type Timer,
  type TimerUpdate,
} from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import { type ChangeWrites, type StoredAlarm, Tallies } from '../../../src/stores/index.ts'
import { lowerTo } from '../../../src/stores/sharded/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { scopedName, type TimerRow } from './tables.ts'
import type { OpenTransaction } from './transaction.ts'

/** Writes decisions row by row. The surrounding statement makes them atomic. */
export class Writes implements ChangeWrites {
  readonly tallies = new Tallies()
  /** The earliest wake that was written, by shard. */
  readonly wakes = new Map<number, number>()
  readonly #database: SimulatedDatabase

  constructor(database: SimulatedDatabase) {
    this.#database = database
  }

  /** Adds the sums. In an open transaction, other processes are notified of wakes at commit. */
  finish(tx?: OpenTransaction): void {
    this.#database.addTallies(this.tallies.drain())
    if (tx !== undefined) for (const [shard, wakeAt] of this.wakes) lowerTo(tx.wakes, shard, wakeAt)
  }

  removeTimer(id: Serial): void {
    this.#database.tables.timers.remove(id)
  }

  moveTimer(timer: Timer, move: TimerUpdate): void {
    const row = this.#database.tables.timers.get(timer.id)
    if (row === undefined) return
    const version = row.timer.version + 1
    this.#putTimer({ ...row, timer: { ...timer, ...move, version, edited: false, report: null } })
  }

  addTimer(alarm: StoredAlarm, timer: NewTimer): void {
    const { tenant, owner, target } = alarm
    const id = this.#database.next('timers')
    const fresh = { id, shard: this.#shardOf(alarm), version: 1, edited: false, report: null }
    this.#putTimer({
      alarm: alarm.seq,
      tenant,
      owner,
      target: target.name,
      timer: { ...timer, ...fresh },
    })
  }

  markEdited(id: Serial): void {
    this.#amendTimer(id, { edited: true })
  }

  storeEarlyReport(id: Serial, text: string): void {
    this.#amendTimer(id, { report: JSON.parse(text) })
  }

  insertAlarm(alarm: Alarm, timer: NewTimer): StoredAlarm {
    const { tables } = this.#database
    const exists = tables.alarmIds.get(alarm.id) !== undefined
    if (exists)
      throw new WakefulError(
        'internal',
        { detail: `There is already an alarm ${alarm.id}.` },
        { code: 'conflict' },
      )
    const stored = { ...alarm, calendars: NO_CALENDARS, seq: this.#database.next('alarms') }
    this.#lockNames(stored)
    tables.alarms.put(stored.seq, stored)
    this.addTimer(stored, timer)
    this.tallies.created(alarm)
    return stored
  }

  replaceAlarm(before: StoredAlarm, after: Alarm): void {
    const { tables } = this.#database
    const { seq, idempotencyKey } = before
    const stored = { ...after, calendars: NO_CALENDARS, seq }
    this.#lockNames(stored)
    tables.alarms.put(seq, stored)
    if (idempotencyKey !== null && idempotencyKey !== after.idempotencyKey) {
      const name = scopedName(before, idempotencyKey)
      if (tables.idempotencyKeys.get(name) === undefined) tables.idempotencyKeys.put(name, seq)
    }
  }

  /** Moves the alarm's timers to its target's pool. Timers in flight stay with the shard that delivers them. */
  retarget(alarm: StoredAlarm): void {
    const { tables } = this.#database
    const shard = this.#shardOf(alarm)
    for (const { key } of [...tables.timersOfAlarm.in(alarm.seq)]) {
      const row = tables.timers.get(key)!
      if (row.timer.edited) continue
      this.#putTimer({ ...row, target: alarm.target.name, timer: { ...row.timer, shard } })
    }
  }

  /** Keeps the time of the last fire if the new status has none. */
  putOutcome(alarm: Pick<StoredAlarm, 'seq'>, outcome: Outcome): void {
    const { outcomes } = this.#database.tables
    const lastFiredAt = outcome.lastFiredAt ?? outcomes.get(alarm.seq)?.lastFiredAt ?? null
    outcomes.put(alarm.seq, { ...outcome, lastFiredAt })
  }

  putStatus(alarm: Pick<StoredAlarm, 'seq'>, status: NonNullable<Outcome['status']>): void {
    const { outcomes } = this.#database.tables
    outcomes.put(alarm.seq, { ...(outcomes.get(alarm.seq) ?? NO_OUTCOME), status })
  }

  removeOutcome(alarm: Serial): void {
    this.#database.tables.outcomes.remove(alarm)
  }

  addEvent(alarm: StoredAlarm, event: EventDraft, context: Context): void {
    const { seq: own, tenant, owner, subject, correlationId } = alarm
    const { type, origin, occurrence, failure = null, at } = event
    const seq = this.#database.next('events')
    const data = eventJson(event)
    const about = { alarm: own, occurrence, subject, correlationId }
    this.#database.tables.events.put(seq, {
      seq,
      id: context.newId(),
      tenant,
      owner,
      type,
      origin,
      ...about,
      failure,
      at,
      data,
    })
  }

  restateFailure(alarm: Serial, was: Failure, is: Failure | null, named: string | null): void {
    const { events, eventsOfAlarm } = this.#database.tables
    const rows = eventsOfAlarm.in(alarm).map(({ key }) => events.get(key)!)
    const last = rows.findLast(
      ({ failure, occurrence }) => failure === was && occurrence === (named ?? occurrence),
    )
    if (last !== undefined) events.put(last.seq, { ...last, failure: is })
  }

  #amendTimer(id: Serial, by: Partial<Timer>): void {
    const row = this.#database.tables.timers.get(id)
    if (row !== undefined) this.#database.tables.timers.put(id, { ...row, timer: { ...row.timer, ...by } })
  }

  #putTimer(row: TimerRow): void {
    const { id, shard, wakeAt } = row.timer
    this.#database.tables.timers.put(id, row)
    if (wakeAt !== null) this.wakes.set(shard, Math.min(wakeAt, this.wakes.get(shard) ?? wakeAt))
  }

  /** Round robin, for an even distribution. */
  #shardOf({ seq, target }: StoredAlarm): number {
    const shards = this.#database.shardsFor(target.pool)
    return shards[Number(BigInt(seq) % BigInt(shards.length))]!
  }

  /** Another transaction may be using the same key. */
  #lockNames({ key, idempotencyKey, ...scope }: StoredAlarm): void {
    if (key !== null) this.#database.lock('keys', scopedName(scope, key))
    if (idempotencyKey !== null) this.#database.lock('idempotency_keys', scopedName(scope, idempotencyKey))
  }
}
