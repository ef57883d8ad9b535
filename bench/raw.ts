import { DatabaseSync } from 'node:sqlite'
import * as sql from '../src/stores/sqlite/sql/queries.ts'
import { perSecond } from './bed.ts'

/**
 * The limit of the store: the same statements on the same tables and rows, in a bare loop with nothing around them.
 * No decisions, no promises, no handler, no flight: what SQLite itself allows.
 */
export class Raw {
  readonly #db: DatabaseSync
  readonly #row: readonly (string | number | null)[]
  readonly #shard: number
  #serial = 0

  /** The file must hold at least one alarm of the handler `noop`: its row is the model of all others. */
  constructor(path: string) {
    this.#db = new DatabaseSync(path)
    this.#db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    const find = this.#db.prepare("SELECT * FROM wakeful_alarms WHERE target = 'noop' LIMIT 1")
    const { seq, ...model } = find.get() as Record<string, string | number | null>
    this.#row = Object.values(model)
    const shard = this.#db.prepare("SELECT shard FROM wakeful_shards WHERE pool = 'app'").get() as {
      shard: number
    }
    this.#shard = shard.shard
  }

  /** Inserts alarms with their timers, so many to a commit. */
  insert(count: number, perCommit: number): number {
    const alarm = this.#db.prepare(sql.insertAlarm)
    const timer = this.#db.prepare(sql.insertTimer)
    const startedAt = performance.now()
    for (let done = 0; done < count; done += perCommit) {
      this.#db.exec('BEGIN IMMEDIATE')
      for (let i = 0; i < perCommit; i++) {
        const [, ...rest] = this.#row
        const { lastInsertRowid } = alarm.run(this.#id(), ...rest)
        timer.run(
          lastInsertRowid,
          'default',
          '',
          'noop',
          this.#shard,
          'due',
          4_000_000_000_000,
          4_000_000_000_000,
          null,
          null,
          null,
          1,
          1,
          0,
          null,
          null,
          0,
        )
      }
      this.#db.exec('COMMIT')
    }
    return perSecond(count, startedAt)
  }

  /** Reads what is due and settles it: timers deleted, events and outcomes written, a thousand to a commit. */
  readAndSettle(count: number): number {
    const due = this.#db.prepare(sql.dueTimers)
    due.setReturnArrays(true)
    const remove = this.#db.prepare(sql.removeTakenTimer)
    const event = this.#db.prepare(sql.insertEvent)
    const outcome = this.#db.prepare(sql.putOutcome)
    const now = Date.now()
    const data =
      '{"scheduled_for":"2026-01-01T00:00:00.000Z","fired_at":"2026-01-01T00:00:00.000Z","drift_ms":1,"attempt":1,"duration_ms":0}'
    const startedAt = performance.now()
    for (let done = 0; done < count; ) {
      const rows = due.all(this.#shard, now, 1000) as unknown as number[][]
      this.#db.exec('BEGIN IMMEDIATE')
      for (const row of rows) {
        remove.run(row[0]!, row[12]!)
        event.run(
          this.#id(),
          'default',
          '',
          'alarm.fired',
          'caused',
          row[1]!,
          '1-1767225600000',
          null,
          this.#id(),
          now,
          data,
        )
        outcome.run(row[1]!, 'default', '', 'noop', 'fired', now, now, now, 0, null, null, 0, 1)
      }
      this.#db.exec('COMMIT')
      if (rows.length === 0) throw new Error(`only ${done} of ${count} rows were due`)
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
