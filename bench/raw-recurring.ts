import { DatabaseSync } from 'node:sqlite'
import { ALARM_COLUMNS, TIMER_COLUMNS } from '../src/stores/index.ts'
import * as sql from '../src/stores/sqlite/sql/queries.ts'
import { parseRule, type Rule, scheduleOf } from '../src/time/index.ts'
import { PAYLOAD, type Pace, pace } from './bed.ts'

const BATCH = 1000
const TIMES =
  '"scheduled_for":"2030-01-16T00:00:00.000Z","fired_at":"2030-01-16T12:00:01.000Z","drift_ms":1,"attempt":1'

/** What a fire of this target leaves in the log. */
const EVENTS = {
  event: ['schedule.ticked', 'scheduled', `{${TIMES},"payload":${JSON.stringify(PAYLOAD)}}`],
  handler: ['alarm.fired', 'caused', `{${TIMES},"duration_ms":0}`],
} as const

/** Where a fire goes. */
export type Variant = keyof typeof EVENTS

/**
 * The limit of the store for recurring alarms. Per batch of a thousand, as the engine takes them: one due look, which
 * reads the timers with their whole alarms in the order of the index; then one transaction, which moves each timer to
 * its next instant, only where it is still as it was read, puts its outcome, appends its event, and adds up the owner's
 * tally in one row. The next instants are known before the clock starts.
 *
 * It leaves out what deciding takes: no rule is read, no time is calculated, and no record is built. It leaves out what
 * safety takes: no lease, no record of the flight. And no handler is called.
 *
 * With `timed`, the same loop does the time math of the engine, and nothing else of it: the rule is read from its row,
 * checked, compiled or found compiled, and asked for its next instant. Beside the bare loop, that is what time math costs.
 */
export function drainRaw(path: string, variant: Variant, now: number, timed = false): Pace {
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    if (timed) return drain(db, variant, now, nextOf)
    const nexts = nextInstants(db)
    return drain(db, variant, now, ([id]) => nexts.get(id as number)!)
  } finally {
    db.close()
  }
}

/** A row of the due look: a timer's columns, the alarm's row, its columns. */
type Row = readonly (number | string)[]

const RULE = TIMER_COLUMNS.length + 1 + ALARM_COLUMNS.indexOf('rule')
const SCHEDULED_FOR = TIMER_COLUMNS.indexOf('scheduled_for')
const VERSION = TIMER_COLUMNS.indexOf('version')
const ZONE_OFFSET = TIMER_COLUMNS.indexOf('zone_offset')

function nextOf(row: Row): number {
  const rule = parseRule(row[RULE] as string)
  if (rule === null) throw new Error(`${row[RULE]} is no rule`)
  return scheduleOf(rule).next(row[SCHEDULED_FOR] as number)!
}

function drain(db: DatabaseSync, variant: Variant, now: number, next: (row: Row) => number): Pace {
  const due = db.prepare(sql.dueTimers)
  due.setReturnArrays(true)
  const move = db.prepare(sql.moveTakenTimer)
  const outcome = db.prepare(sql.putOutcome)
  const event = db.prepare(sql.insertEvent)
  const tally = db.prepare(sql.addTally)
  const [type, origin, data] = EVENTS[variant]
  const shard = shardOf(db, variant)
  const paceOf = pace()
  let done = 0
  for (;;) {
    const rows = due.all(shard, now, BATCH) as unknown as Row[]
    if (rows.length === 0) return paceOf(done)
    db.exec('BEGIN IMMEDIATE')
    for (const row of rows) {
      const [id, alarm, , , , , tick, generation] = row as readonly number[]
      const at = next(row)
      done += 1
      const name = `${now.toString(16).padStart(12, '0')}-raw-${String(done).padStart(19, '0')}`
      move.run(
        'due',
        at,
        at,
        null,
        row[ZONE_OFFSET]!,
        row[SCHEDULED_FOR]!,
        tick! + 1,
        generation!,
        0,
        null,
        null,
        0,
        id!,
        row[VERSION]!,
      )
      outcome.run(alarm!, 'default', '', variant, null, now, now, now, 0, null, null, 0, 1)
      event.run(name, 'default', '', type, origin, alarm!, '1-1767225600000', null, name, now, data)
    }
    tally.run('default', '', 0, 0, 0, 0, 0, 0, 0, 0, rows.length)
    db.exec('COMMIT')
  }
}

/** The shard of the pool that this target belongs to. */
export function shardOf(db: DatabaseSync, variant: Variant): number {
  const find = db.prepare('SELECT shard FROM wakeful_shards WHERE pool = ?')
  return (find.get(variant === 'event' ? 'wakeful' : 'app') as { shard: number }).shard
}

function nextInstants(db: DatabaseSync): Map<number, number> {
  const all = db.prepare(
    'SELECT t.id, t.scheduled_for, a.rule FROM wakeful_timers t JOIN wakeful_alarms a ON a.seq = t.alarm',
  )
  const nexts = new Map<number, number>()
  for (const row of all.iterate()) {
    const { id, scheduled_for: from, rule } = row as { id: number; scheduled_for: number; rule: string }
    nexts.set(id, scheduleOf(JSON.parse(rule) as Rule).next(from)!)
  }
  return nexts
}
