import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { open } from '../../../src/index.ts'
import { copyRows, moveSequences, withoutIndexes } from '../../postgres/copies.ts'

const PROCESS = fileURLToPath(new URL('./fairness-process.ts', import.meta.url))

/** The tenant with the backlog, and the target of its alarms. */
export const CROWD = 'crowd'
/** The tenants whose alarms come at a steady rate, some before and some after it in name order. */
export const TENANTS: readonly string[] = ['a', 'b', 'c', 'd', 'e', 'p', 'q', 'r', 's', 't']

/** What the crowd's handlers do: hang, fail at once, or take some time. */
export type Manner = 'hang' | 'fail' | 'slow'

/** How the backlog is made. */
export interface CrowdOptions {
  readonly alarms: number
  readonly priority?: number
  /** How many shards it is spread over; all by default. */
  readonly shards?: number
}

/** How a phase is run. */
export interface PhaseOptions {
  readonly seconds: number
  /** Per tenant, in all processes together. */
  readonly perSecond: number
  readonly processes: number
  readonly manner: Manner
}

/** The lateness of the tenants' alarms in milliseconds, and how many of theirs and the crowd's fired. */
export interface Phase {
  readonly p50: number
  readonly p99: number
  readonly worst: number
  readonly set: number
  readonly fired: number
  readonly crowded: number
}

/** Fires at a steady rate for ten tenants in separate processes, beside whatever is in the database. */
async function phase(url: string, options: PhaseOptions): Promise<Phase> {
  const { seconds, perSecond, processes, manner } = options
  const args = [PROCESS, url, perSecond / processes, seconds, manner].map(String)
  const runs = await Promise.all(
    Array.from({ length: processes }, () =>
      promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 }),
    ),
  )
  const reports = runs.map(({ stdout }) => JSON.parse(stdout) as TenantReport)
  const late = reports.flatMap(({ lateMs }) => lateMs).sort((a, b) => a - b)
  const sum = (of: (each: TenantReport) => number) => reports.reduce((all, each) => all + of(each), 0)
  const at = (part: number) => late[Math.min(late.length - 1, Math.floor(late.length * part))]!
  return {
    p50: at(0.5),
    p99: at(0.99),
    worst: late.at(-1)!,
    set: sum(({ set }) => set),
    fired: sum(({ fired }) => fired),
    crowded: sum(({ crowded }) => crowded),
  }
}

interface TenantReport {
  readonly lateMs: readonly number[]
  readonly set: number
  readonly fired: number
  readonly crowded: number
}

/** Creates the backlog: copies of one alarm set by the library, all due within the last minute. */
async function fillCrowd(url: string, options: CrowdOptions): Promise<void> {
  const { alarms, priority = 0, shards = 1_000 } = options
  const wakeful = await open(url)
  await wakeful.forTenant(CROWD).set({ delay: '1d' }, { target: CROWD, priority })
  await wakeful.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const wakeAt = `${Date.now()} - n % 60000`
  const id = "m.id || '-' || n"
  const correlation = "m.correlation_id || '-' || n"
  const shard = `(SELECT s.all[1 + n % cardinality(s.all)] FROM (SELECT array_agg(shard) AS all FROM (
    SELECT shard FROM wakeful.shards WHERE pool = 'app' ORDER BY slot LIMIT ${shards}) l) s)`
  const places = { shard, wake_at: wakeAt, scheduled_for: wakeAt }
  try {
    await withoutIndexes(client, async () => {
      await copyRows(client, 'alarms', alarms, {
        seq: 'm.seq + n',
        id,
        correlation_id: correlation,
        fire_at: wakeAt,
      })
      await copyRows(client, 'timers', alarms, { id: 'm.id + n', alarm: 'm.alarm + n', ...places })
      await moveSequences(client)
    })
    await client.query('UPDATE wakeful.tallies SET total = total + $1, pending = pending + $1', [alarms])
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

/** The cases: what the handlers do, where the backlog is, and the number of processes. */
const CASES: Readonly<Record<string, Partial<CrowdOptions & PhaseOptions>>> = {
  hang: {},
  'hang, two processes': { processes: 2 },
  'take 50 ms': { manner: 'slow' },
  'fail at once': { manner: 'fail' },
  'hang, all in one shard': { shards: 1 },
  'hang, higher priority': { priority: 9 },
}
/** The promised cases: with a tenant whose handlers hang, the others' 99th percentile at most doubles. */
const RATIO_MAX = 2

/** The lateness of ten tenants without and with the backlog, alternately, in each case; and which is too late. */
export async function fairness(
  fresh: (name: string) => Promise<string>,
  { alarms, seconds, rounds }: { readonly alarms: number; readonly seconds: number; readonly rounds: number },
) {
  const quiet = await fresh('quiet')
  const found: Record<string, object> = {}
  const wrong: string[] = []
  let places = ''
  let crowded = ''
  for (const [name, { priority = 0, shards = 1_000, manner = 'hang', processes = 1 }] of Object.entries(
    CASES,
  )) {
    if (`${priority} ${shards}` !== places) {
      places = `${priority} ${shards}`
      crowded = await fresh(`crowd_${priority}_${shards}`)
      await fillCrowd(crowded, { alarms, priority, shards })
    }
    const options = { seconds, perSecond: 30, processes, manner }
    const turns: { readonly before: Phase; readonly beside: Phase }[] = []
    for (let round = 0; round < rounds; round++)
      turns.push({ before: await phase(quiet, options), beside: await phase(crowded, options) })
    const before = medianOf(turns.map((turn) => turn.before.p99))
    const beside = medianOf(turns.map((turn) => turn.beside.p99))
    const ratio = Number((beside / before).toFixed(2))
    const p50 = [
      medianOf(turns.map((turn) => turn.before.p50)),
      medianOf(turns.map((turn) => turn.beside.p50)),
    ]
    const lost = turns.some((turn) => turn.beside.fired < turn.beside.set)
    found[name] = {
      'p50, ms': p50.join(' → '),
      'p99, ms': `${before} → ${beside}`,
      ratio,
      crowd: turns.at(-1)!.beside.crowded,
    }
    if (lost) wrong.push(`${name}: not all fired`)
    if (manner === 'hang' && ratio > RATIO_MAX) wrong.push(`${name}: the 99th percentile grew ${ratio} times`)
  }
  return { found, wrong }
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
