import { DatabaseSync } from 'node:sqlite'
import { ALARM_COLUMNS, TIMER_COLUMNS } from '../../src/stores/index.ts'
import * as sql from '../../src/stores/sqlite/sql/queries.ts'
import { parseRule, type Rule, scheduleOf } from '../../src/time/index.ts'
import { BoundStatement, firstRow, type ModelRow } from '../bound-statement.ts'
import { startStopwatch, type Throughput } from '../statistics.ts'
import { BATCH } from '../workload.ts'

/** Where a fire goes. */
export type Variant = 'event' | 'handler'

/** What Wakeful wrote for one alarm that it drained: the raw loop copies these rows. */
export interface Models {
  readonly timer: ModelRow
  readonly outcome: ModelRow
  readonly event: ModelRow
  readonly tally: ModelRow
}

/** Reads the model rows from a file in which one alarm was drained. */
export function readModels(path: string): Models {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return {
      timer: firstRow(db, 'wakeful_timers'),
      outcome: firstRow(db, 'wakeful_outcomes'),
      event: firstRow(db, 'wakeful_events'),
      tally: firstRow(db, 'wakeful_tallies'),
    }
  } finally {
    db.close()
  }
}

/** What is drained, and how. */
export interface RawDrain {
  readonly path: string
  readonly variant: Variant
  readonly models: Models
  readonly now: number
  /** Whether next instants are computed from the rules, as the engine does, or known before the clock starts. */
  readonly computesInstants: boolean
}

/**
 * The limit of the store for recurring alarms. Per batch of a thousand, as the engine claims them: one query, which
 * reads the due timers with their whole alarms in the order of the index; then one transaction, which moves each timer
 * to its next instant if it is unchanged, puts its outcome, appends its event, and adds up the owner's tally in one row.
 *
 * It leaves out what deciding takes: no rule is read, no instant is computed and no record is built. It leaves out what
 * safety takes: no lease and no record of the batch in flight. It calls no handler.
 *
 * With `computesInstants`, the same loop reads each rule from its row, validates it, compiles it or finds it compiled,
 * and asks it for its next instant. Compared with the bare loop, that is the cost of computing instants and nothing else.
 */
export function drainRaw({ path, variant, models, now, computesInstants }: RawDrain): Throughput {
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    const shard = shardOf(db, variant)
    if (computesInstants) return drain(db, { shard, now, models }, nextOf)
    const nexts = nextInstants(db)
    return drain(db, { shard, now, models }, (row) => nexts.get(row[ID] as number)!)
  } finally {
    db.close()
  }
}

/** A row of the query for due timers: the timer's columns, the alarm's row, its columns. */
type Row = readonly (number | string)[]

const ID = TIMER_COLUMNS.indexOf('id')
const ALARM = TIMER_COLUMNS.indexOf('alarm')
const TICK = TIMER_COLUMNS.indexOf('tick')
const RULE = TIMER_COLUMNS.length + 1 + ALARM_COLUMNS.indexOf('rule')
const SCHEDULED_FOR = TIMER_COLUMNS.indexOf('scheduled_for')
/** Values that a moved timer keeps from the row that was read; `id` and `version` say which row is meant. */
const KEPT = ['id', 'version', 'zone_offset', 'generation'] as const

function nextOf(row: Row): number {
  const rule = parseRule(row[RULE] as string)
  if (rule === null) throw new Error(`Invalid rule: ${row[RULE]}`)
  return scheduleOf(rule).next(row[SCHEDULED_FOR] as number)!
}

interface Due {
  readonly shard: number
  readonly now: number
  readonly models: Models
}

function drain(db: DatabaseSync, { shard, now, models }: Due, next: (row: Row) => number): Throughput {
  const due = db.prepare(sql.dueTimers)
  due.setReturnArrays(true)
  const timer = new BoundStatement(db, sql.moveClaimedTimer, models.timer)
  const outcome = new BoundStatement(db, sql.putOutcome, models.outcome)
  const event = new BoundStatement(db, sql.insertEvent, models.event)
  const tally = new BoundStatement(db, sql.addTally, withoutSums(models.tally))
  const [wakeAt, scheduledFor] = [timer.indexOf('wake_at'), timer.indexOf('scheduled_for')]
  const [floor, tick] = [timer.indexOf('floor'), timer.indexOf('tick')]
  const kept = KEPT.map((column) => [timer.indexOf(column), TIMER_COLUMNS.indexOf(column)] as const)
  const [eventId, correlationId] = [event.indexOf('id'), event.indexOf('correlation_id')]
  const [alarmOfEvent, alarmOfOutcome] = [event.indexOf('alarm'), outcome.indexOf('alarm')]
  const durationCount = tally.indexOf('duration_count')
  const stop = startStopwatch()
  let done = 0
  for (;;) {
    const rows = due.all(shard, now, BATCH) as unknown as Row[]
    if (rows.length === 0) return stop(done)
    db.exec('BEGIN IMMEDIATE')
    for (const row of rows) {
      const at = next(row)
      done += 1
      for (const [to, from] of kept) timer.values[to] = row[from]!
      timer.values[wakeAt] = at
      timer.values[scheduledFor] = at
      timer.values[floor] = row[SCHEDULED_FOR]!
      timer.values[tick] = (row[TICK] as number) + 1
      timer.run()
      outcome.values[alarmOfOutcome] = row[ALARM]!
      outcome.run()
      event.values[eventId] = `${now.toString(16).padStart(12, '0')}-raw-${String(done).padStart(19, '0')}`
      event.values[correlationId] = event.values[eventId]
      event.values[alarmOfEvent] = row[ALARM]!
      event.run()
    }
    tally.values[durationCount] = rows.length
    tally.run()
    db.exec('COMMIT')
  }
}

/** The owner's tally with every sum at zero: what is bound is added to the row. */
function withoutSums(tally: ModelRow): ModelRow {
  const entries = Object.entries(tally)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'number' ? 0 : value]))
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
