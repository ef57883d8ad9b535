import { DatabaseSync } from 'node:sqlite'
import { TIMER_COLUMNS } from '../../src/stores/index.ts'
import * as sql from '../../src/stores/sqlite/sql/queries.ts'
import { BoundStatement, firstRow } from '../bound-statement.ts'
import { perSecond } from '../statistics.ts'
import { BATCH, batches } from '../workload.ts'

const [ID, ALARM, VERSION] = [
  TIMER_COLUMNS.indexOf('id'),
  TIMER_COLUMNS.indexOf('alarm'),
  TIMER_COLUMNS.indexOf('version'),
]

/**
 * The limit of the store: the same statements on the same tables and rows, in a bare loop. It makes no decisions, awaits
 * no promises, calls no handler and records no batch in flight: it shows what SQLite itself allows.
 */
export class Raw {
  readonly #db: DatabaseSync
  readonly #shard: number
  #serial = 0

  /** The file must hold the rows that `writeModelRows` leaves behind. */
  constructor(path: string) {
    this.#db = new DatabaseSync(path)
    this.#db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    this.#shard = firstRow(this.#db, 'wakeful_timers').shard as number
  }

  /** Inserts alarms with their timers, this many per commit. */
  insert(count: number, perCommit: number): number {
    const alarm = new BoundStatement(this.#db, sql.insertAlarm, firstRow(this.#db, 'wakeful_alarms'))
    const timer = new BoundStatement(this.#db, sql.insertTimer, firstRow(this.#db, 'wakeful_timers'))
    const [id, correlationId] = [alarm.indexOf('id'), alarm.indexOf('correlation_id')]
    const alarmOfTimer = timer.indexOf('alarm')
    const startedAt = performance.now()
    for (const size of batches(count, perCommit)) {
      this.#db.exec('BEGIN IMMEDIATE')
      for (let i = 0; i < size; i++) {
        // An alarm's correlation id is its own id by default; any other value would cost an index entry more.
        alarm.values[id] = this.#id()
        alarm.values[correlationId] = alarm.values[id]
        timer.values[alarmOfTimer] = alarm.run()
        timer.run()
      }
      this.#db.exec('COMMIT')
    }
    return perSecond(count, startedAt)
  }

  /** Reads what is due and settles it: deletes the timers, writes events and outcomes, a thousand per commit. */
  readAndSettle(count: number): number {
    const due = this.#db.prepare(sql.dueTimers)
    due.setReturnArrays(true)
    const timer = new BoundStatement(this.#db, sql.removeClaimedTimer, firstRow(this.#db, 'wakeful_timers'))
    const event = new BoundStatement(this.#db, sql.insertEvent, firstRow(this.#db, 'wakeful_events'))
    const outcome = new BoundStatement(this.#db, sql.putOutcome, firstRow(this.#db, 'wakeful_outcomes'))
    const [timerId, version] = [timer.indexOf('id'), timer.indexOf('version')]
    const [eventId, correlationId] = [event.indexOf('id'), event.indexOf('correlation_id')]
    const [alarmOfEvent, alarmOfOutcome] = [event.indexOf('alarm'), outcome.indexOf('alarm')]
    const now = Date.now()
    const startedAt = performance.now()
    for (let done = 0; done < count; ) {
      const rows = due.all(this.#shard, now, BATCH) as unknown as number[][]
      this.#db.exec('BEGIN IMMEDIATE')
      for (const row of rows) {
        timer.values[timerId] = row[ID]!
        timer.values[version] = row[VERSION]!
        timer.run()
        event.values[eventId] = this.#id()
        event.values[correlationId] = this.#id()
        event.values[alarmOfEvent] = row[ALARM]!
        event.run()
        outcome.values[alarmOfOutcome] = row[ALARM]!
        outcome.run()
      }
      this.#db.exec('COMMIT')
      if (rows.length === 0) throw new Error(`Only ${done} of ${count} rows were due`)
      done += rows.length
    }
    return perSecond(count, startedAt)
  }

  close(): void {
    this.#db.close()
  }

  #id(): string {
    this.#serial += 1
    return `${Date.now().toString(16).padStart(12, '0')}-raw-${String(this.#serial).padStart(12, '0')}`
  }
}
