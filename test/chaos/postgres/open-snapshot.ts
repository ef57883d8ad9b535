import pg from 'pg'
import { open, type Wakeful } from '../../../src/index.ts'
import { ask } from '../postgres-evidence.ts'

/** How long a snapshot stays open, and what is fired meanwhile. */
export interface OpenSnapshotOptions {
  readonly url: string
  readonly seconds: number
  readonly perSecond: number
  /** Dead rows at the start, as if the snapshot had been open for long. */
  readonly deadRows?: number
  readonly onSecond?: (second: number, medianMs: number, worstMs: number) => void
}

/** The lateness in milliseconds. */
export interface OpenSnapshotResult {
  readonly set: number
  readonly fired: number
  readonly p50: number
  readonly p99: number
  readonly worst: number
  /** How long it took to set them all: longer than requested if the machine was too slow. */
  readonly elapsedMs: number
  /** The worst median of any second, and those of the first and last quarter. A growing backlog shows there. */
  readonly worstMedian: number
  readonly firstMedian: number
  readonly lastMedian: number
}

const STEP_MS = 100
const AHEAD_MS = 1_000
const DRAIN_MS_MAX = 90_000
const LONG_PAST = 1_500_000_000_000

/** Fires at a steady rate while an open transaction prevents PostgreSQL from vacuuming fired rows. */
export async function openSnapshot(options: OpenSnapshotOptions): Promise<OpenSnapshotResult> {
  const { url, seconds, perSecond } = options
  const wakeful = await open(url)
  const lateness: { readonly at: number; readonly lateMs: number }[] = []
  wakeful.handle('note', ({ occurrence }) => {
    const due = occurrence.scheduledFor.getTime()
    lateness.push({ at: due, lateMs: Date.now() - due })
  })
  await wakeful.start()
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await holder.query('SELECT count(*) FROM wakeful.timers')
  await leaveDead(url, wakeful, options.deadRows ?? 0)
  const startedAt = Date.now()
  const perStep = Math.round((perSecond * STEP_MS) / 1_000)
  let set = 0
  let reported = 0
  let elapsedMs = 0
  try {
    for (let step = 0; step < (seconds * 1_000) / STEP_MS; step++) {
      // A machine that is too slow for this rate sets them later, and that is not counted as late.
      const from = Math.max(startedAt + step * STEP_MS, Date.now()) + AHEAD_MS
      const items = Array.from({ length: perStep }, (_, i) => {
        return { when: new Date(from + Math.floor((i * STEP_MS) / perStep)), target: 'note' }
      })
      await wakeful.setMany(items)
      set += items.length
      if (step % 10 === 9) {
        const recent = lateness.slice(reported).map(({ lateMs }) => lateMs)
        reported = lateness.length
        if (recent.length > 0) options.onSecond?.((step + 1) / 10, quantile(recent, 0.5), Math.max(...recent))
      }
      await sleep(startedAt + (step + 1) * STEP_MS - Date.now())
    }
    elapsedMs = Date.now() - startedAt
    const end = Date.now() + DRAIN_MS_MAX
    while (lateness.length < set && Date.now() < end) await sleep(50)
    await holder.query('COMMIT')
  } finally {
    await holder.end()
    await wakeful.close()
  }
  return {
    set,
    fired: lateness.length,
    elapsedMs,
    ...summary(lateness, startedAt + AHEAD_MS, Math.ceil(elapsedMs / 1_000)),
  }
}

/** Dead rows since the snapshot, which cannot be vacuumed. */
async function leaveDead(url: string, wakeful: Wakeful, count: number): Promise<void> {
  if (count === 0) return
  await wakeful.set({ delay: '1d' }, { target: 'note' })
  await ask(
    url,
    `INSERT INTO wakeful.timers (alarm, tenant, owner, target, shard, kind, wake_at, scheduled_for, tick, generation,
       attempt, delivered, version, edited)
     SELECT a.seq, 'dead', '', 'note', s.shards[1 + n % cardinality(s.shards)], 'due', $1::bigint + n, 1, 1, 1, 0, 0, 1, 0
     FROM generate_series(1, $2::bigint) AS n, (SELECT max(seq) AS seq FROM wakeful.alarms) AS a,
       (SELECT array_agg(shard) AS shards FROM wakeful.shards WHERE pool = 'app') AS s`,
    [LONG_PAST, count],
  )
  await ask(url, "DELETE FROM wakeful.timers WHERE tenant = 'dead'")
  // The server does this by itself within a minute: plans made for an empty table are replaced.
  await ask(url, 'ANALYZE')
}

function summary(lateness: readonly { at: number; lateMs: number }[], from: number, seconds: number) {
  const between = (start: number, end: number) =>
    lateness
      .filter(({ at }) => at >= from + start * 1_000 && at < from + end * 1_000)
      .map(({ lateMs }) => lateMs)
  const all = lateness.map(({ lateMs }) => lateMs)
  const medians = Array.from({ length: seconds }, (_, second) => between(second, second + 1))
    .filter((each) => each.length > 0)
    .map((each) => quantile(each, 0.5))
  return {
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    worst: Math.max(...all),
    worstMedian: Math.max(...medians),
    firstMedian: quantile(between(0, seconds / 4), 0.5),
    lastMedian: quantile(between((3 * seconds) / 4, seconds), 0.5),
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}
