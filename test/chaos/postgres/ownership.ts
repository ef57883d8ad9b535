import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open, type Wakeful } from '../../../src/index.ts'
import { ask } from '../postgres-evidence.ts'
import { within } from './process-group.ts'
import { Wire } from './wire.ts'

const BYSTANDER = fileURLToPath(new URL('./bystander.ts', import.meta.url))
const SHARDS = 64
const WAIT_MS_MAX = 120_000

/** How many shards of the handlers' pool each process holds, the most first. */
async function shares(url: string): Promise<number[]> {
  const rows = await ask<{ count: string }>(
    url,
    `SELECT count(*) FROM wakeful.shards WHERE pool = 'app' AND holder IS NOT NULL GROUP BY holder`,
  )
  return rows.map(({ count }) => Number(count)).sort((a, b) => b - a)
}

/** Whether all shards are held by this many processes, differing by at most one shard. */
function isEven(counts: readonly number[], processes: number): boolean {
  const sum = counts.reduce((all, count) => all + count, 0)
  return counts.length === processes && sum === SHARDS && counts[0]! - counts.at(-1)! <= 1
}

/** Waits until the shards are spread evenly. Returns how long it took; throws with the distribution on timeout. */
async function untilEven(url: string, processes: number): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const counts = await shares(url)
    if (isEven(counts, processes)) return performance.now() - startedAt
    if (performance.now() - startedAt > WAIT_MS_MAX)
      throw new Error(`${SHARDS} shards over ${processes} processes were distributed as ${counts.join(', ')}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A separate process; `once` lets it end by itself. */
export async function bystander(url: string, mode?: 'once'): Promise<ChildProcess> {
  const args = [BYSTANDER, url, ...(mode === undefined ? [] : [mode])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await within(WAIT_MS_MAX, 'a bystander', once(child.stdout!, 'data'))
  return child
}

/** How long it took until the shards were held again: after a crash, and after a close. */
export interface Takeovers {
  readonly crashMs: number
  readonly closeMs: number
}

/** Kills one of two processes, then closes one of two. */
export async function takeovers(url: string): Promise<Takeovers> {
  const survivor = await started(url)
  try {
    const victim = await bystander(url)
    await untilEven(url, 2)
    victim.kill('SIGKILL')
    const crashMs = await untilEven(url, 1)
    const leaver = await started(url)
    await untilEven(url, 2)
    const closing = leaver.close()
    const closeMs = await untilEven(url, 1)
    await closing
    return { crashMs, closeMs }
  } finally {
    await survivor.close()
  }
}

/** How long it took until the shards were spread evenly after one process joined, and after one left. */
export async function spreads(
  url: string,
  processes: number,
): Promise<{ joinMs: number[]; leaveMs: number[] }> {
  const all: Wakeful[] = []
  const [joinMs, leaveMs]: [number[], number[]] = [[], []]
  try {
    for (let count = 1; count <= processes; count++) {
      all.push(await started(url))
      joinMs.push(Math.round(await untilEven(url, count)))
    }
    while (all.length > 1) {
      await all.shift()!.close()
      leaveMs.push(Math.round(await untilEven(url, all.length)))
    }
  } finally {
    await Promise.all(all.map((wakeful) => wakeful.close()))
  }
  return { joinMs, leaveMs }
}

/** What a process did that was cut off from the database during its work. */
export interface CutOff {
  /** Deliveries it began after the cut. There must be some, and some must be left, or the test proves nothing. */
  readonly startedAfter: number
  readonly left: number
  /** Deliveries it began after its lease had ended by the database's clock. */
  readonly startedTooLate: number
}

/** Cuts a process off while many claimed timers wait for a free slot. */
export async function cutOff(url: string, port: number): Promise<CutOff> {
  const wire = await Wire.start(port)
  const through = new URL(url)
  through.port = String(wire.port)
  const alarms = 300
  let isCut = false
  let warmed = 0
  const starts: number[] = []
  const wakeful = await open(through.href, { concurrency: 5, drain: '1s', onError: () => {} })
  wakeful.handle('work', async ({ payload }) => {
    if (payload === 'warm') warmed += 1
    else starts.push(Date.now())
    // Quick at first, so that it claims many ahead.
    if (payload !== 'warm') await new Promise((resolve) => setTimeout(resolve, isCut ? 150 : 100))
  })
  const set = (count: number, payload: string) =>
    wakeful.setMany(
      Array.from({ length: count }, () => ({ when: new Date(Date.now() - 1), target: 'work', payload })),
    )
  try {
    await wakeful.start()
    await set(500, 'warm')
    while (warmed < 500) await new Promise((resolve) => setTimeout(resolve, 5))
    await set(alarms, 'cold')
    while (starts.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    wire.sever()
    isCut = true
    const before = starts.length
    const [row] = await ask<{ until: number }>(
      url,
      'SELECT max(lease_until)::float8 AS until FROM wakeful.processes',
    )
    await new Promise((resolve) => setTimeout(resolve, row!.until - Date.now() + 1_000))
    const startedTooLate = starts.filter((at) => at > row!.until).length
    const [flying] = await ask<{ count: number }>(
      url,
      `SELECT count(*)::float8 / 2 AS count FROM wakeful.in_flight_batches, unnest(timers)`,
    )
    return { startedAfter: starts.length - before, left: flying!.count - starts.length, startedTooLate }
  } finally {
    wire.close()
    await wakeful.close().catch(() => {})
  }
}

async function started(url: string): Promise<Wakeful> {
  const wakeful = await open(url)
  wakeful.handle('work', () => {})
  await wakeful.start()
  return wakeful
}
