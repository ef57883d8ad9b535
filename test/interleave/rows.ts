import type { World } from './world.ts'

/** The judged columns of `alarms`. */
export interface AlarmRow {
  readonly seq: number
  readonly id: string
  readonly kind: string
  readonly key: string | null
  readonly ack: string
  readonly generation: number
  readonly fire_at: number | null
  readonly paused_at: number | null
  readonly cancelled_at: number | null
  readonly idempotency_key: string | null
}

/** A row of `timers`. */
export interface TimerRow {
  readonly id: number
  readonly alarm: number
  readonly shard: number
  readonly version: number
  readonly kind: string
  readonly wake_at: number | null
  readonly scheduled_for: number
  readonly generation: number
  readonly waiting: string | null
  readonly edited: number
}

/** A row of `events`. */
export interface EventRow {
  readonly seq: number
  readonly alarm: number | null
  readonly type: string
  readonly occurrence: string | null
  readonly failure: 'failed' | 'timed_out' | null
  readonly data: string
}

/** All rows at one moment, read without the store. */
export interface Rows {
  readonly alarms: readonly AlarmRow[]
  readonly timers: readonly TimerRow[]
  readonly events: readonly EventRow[]
  readonly outcomes: readonly { readonly alarm: number; readonly status: string | null }[]
  readonly in_flight_batches: readonly {
    readonly id: number
    readonly shard: number
    readonly epoch: number
  }[]
  readonly shards: readonly {
    readonly shard: number
    readonly holder: string | null
    readonly epoch: number
  }[]
  readonly tallies: readonly Readonly<Record<string, number>>[]
}

const READ = `SELECT json_build_object(${[
  'alarms',
  'timers',
  'events',
  'outcomes',
  'in_flight_batches',
  'shards',
  'tallies',
]
  .map(
    (table) =>
      `'${table}', coalesce((SELECT json_agg(t ORDER BY ${orderOf(table)}) FROM wakeful.${table} t), '[]')`,
  )
  .join(', ')}) AS everything`

function orderOf(table: string): string {
  if (table === 'alarms' || table === 'events') return 'seq'
  if (table === 'outcomes') return 'alarm'
  return table === 'shards' ? 'shard' : table === 'tallies' ? 'slot' : 'id'
}

/** Reads all rows in one statement. */
export async function readRows(world: World): Promise<Rows> {
  const [row] = await world.ask(READ)
  return row!.everything as Rows
}
