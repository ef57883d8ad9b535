import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withWakeful } from '../temporary-store.ts'
import { batches } from '../workload.ts'
import type { LoadOptions, LoadResult } from './load.ts'
import { BenchProcess } from './process.ts'

/** How much is done. */
export interface Sizes {
  /** How many alarms come due at one instant. */
  readonly wakes: number
  /** How often each server is called, and for how long. */
  readonly loadTurns: number
  readonly loadSeconds: number
  /** From the first set of a burst to its instant, plus the time that the sets take. */
  readonly leadMs: number
  /** How long the API is called during a burst. */
  readonly burstSeconds: number
}

/** What one round measures. */
export interface Round {
  /** Sets per second: by Wakeful, by the bare framework, and by the framework that also writes the rows. */
  readonly sets: number
  readonly framework: number
  readonly frameworkAndRows: number
  /** Wakes per second, alone and while the API is called. */
  readonly wakes: number
  readonly wakesDuringCalls: number
  /** Latencies of the API during the burst, in milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const SET = { delay: '1d', target: { event: true }, payload: { order: 4711, step: 'remind' } }
const SET_MS_PER_WAKE = 0.5

/** Measures everything once, in a folder, on a new store or on the one given. */
export async function measureRound(
  folder: string,
  sizes: Sizes,
  store = `sqlite:${join(folder, 'wakeful.db')}`,
): Promise<Round> {
  const server = await startServer(store)
  try {
    const sets = await measureSets(server.port, folder, sizes)
    const sink = new BenchProcess([program('sink.ts')])
    try {
      const sinkPort = await portOf(sink)
      const wakes = await measureBurst(server.port, sink, sinkPort, sizes)
      let calls: Promise<LoadResult> | null = null
      const wakesDuringCalls = await measureBurst(server.port, sink, sinkPort, sizes, () => {
        calls = load({
          port: server.port,
          connections: 8,
          seconds: sizes.burstSeconds,
          pauseMs: 40,
          mixed: true,
          body: SET,
        })
      })
      const { p50, p99, max } = await calls!
      return { ...sets, wakes, wakesDuringCalls, p50, p99, max }
    } finally {
      await sink.stop()
    }
  } finally {
    await server.process.stop()
  }
}

/** Sets over 64 connections. The servers take turns, so that other load on the machine affects all alike. */
async function measureSets(port: number, folder: string, { loadTurns, loadSeconds }: Sizes) {
  const example = await post(port, '/v1/alarms', SET)
  const file = join(folder, 'raw.db')
  const { delay, target, payload } = SET
  await withWakeful(file, (wakeful) => wakeful.set({ delay }, { target, payload, label: 'x' }))
  const framework = new BenchProcess([program('baseline.ts'), example])
  const frameworkAndRows = new BenchProcess([program('baseline.ts'), example, file])
  try {
    const ports = {
      framework: await portOf(framework),
      frameworkAndRows: await portOf(frameworkAndRows),
      sets: port,
    }
    const sums = { framework: 0, frameworkAndRows: 0, sets: 0 }
    for (let turn = 0; turn < loadTurns; turn++) {
      for (const name of ['framework', 'frameworkAndRows', 'sets'] as const) {
        const { perSecond } = await load({
          port: ports[name],
          connections: 64,
          seconds: loadSeconds,
          pauseMs: 0,
          mixed: false,
          body: SET,
        })
        sums[name] += perSecond / loadTurns
      }
    }
    return sums
  } finally {
    await Promise.all([framework.stop(), frameworkAndRows.stop()])
  }
}

/** Sets alarms that come due at one instant, and returns how many webhooks per second arrive. */
async function measureBurst(
  port: number,
  sink: BenchProcess,
  sinkPort: number,
  { wakes, leadMs }: Sizes,
  beforeDue = () => {},
): Promise<number> {
  const target = { webhook: `http://127.0.0.1:${sinkPort}/wake` }
  const dueAt = Date.now() + leadMs + wakes * SET_MS_PER_WAKE
  const fire_at = new Date(dueAt).toISOString()
  let made = 0
  for (const size of batches(wakes)) {
    const items = Array.from({ length: size }, (_, n) => ({ fire_at, target, payload: { n: made + n } }))
    await post(port, '/v1/alarms/batch', { items })
    made += size
  }
  sink.send({ expect: wakes })
  await new Promise((resolve) => setTimeout(resolve, dueAt - Date.now() - Math.min(1_000, leadMs / 2)))
  beforeDue()
  const { lastAt } = (await sink.nextMessage()) as { lastAt: number }
  return (wakes / (lastAt - dueAt)) * 1000
}

async function startServer(store: string): Promise<{ process: BenchProcess; port: number }> {
  const env = { WAKEFUL_ALLOW_PRIVATE_TARGETS: '1', WAKEFUL_SECRET: 'benchmark'.repeat(4), WAKEFUL_PORT: '0' }
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const process = new BenchProcess([main, 'serve', '--db', store], env)
  for (;;) {
    const { url } = await process.nextMessage()
    if (typeof url === 'string') return { process, port: Number(new URL(url).port) }
  }
}

async function load(options: LoadOptions): Promise<LoadResult> {
  const result = (await new BenchProcess([
    program('load.ts'),
    JSON.stringify(options),
  ]).nextMessage()) as unknown as LoadResult
  const isFailure = Object.keys(result.statuses).some((status) => Number(status) >= 400)
  if (isFailure) throw new Error(`The server answered with ${JSON.stringify(result.statuses)}`)
  return result
}

async function portOf(process: BenchProcess): Promise<number> {
  return (await process.nextMessage()).port as number
}

function program(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

async function post(port: number, path: string, body: unknown): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
