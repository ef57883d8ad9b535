/** `npm run bench:server`: sets over HTTP, wakes to a local sink, and the API while a storm falls due. */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median } from '../bed.ts'
import { startWorker, type Worker } from './process.ts'

const HELP = `npm run bench:server -- [--rounds 3] [--wakes 20000] [--store URL] [--quick]

  --rounds N   how often everything is measured; medians are told (3)
  --wakes N    how many alarms fall due at one instant (20000)
  --store URL  another store than a SQLite file: postgres://…
  --quick      small sizes: a first look, not a figure to quote`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    wakes: { type: 'string' },
    store: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const rounds = values.quick ? 1 : Number(values.rounds)
const wakes = Number(values.wakes ?? (values.quick ? 2_000 : 20_000))
const seconds = values.quick ? 2 : 8
const folder = mkdtempSync(join(tmpdir(), 'wakeful-bench-server-'))
const workers = new Set<Worker>()
const HEADERS = { connection: 'keep-alive' }
const BODY = { delay: '1d', target: { event: true }, payload: { order: 4711, step: 'remind' } }

try {
  const all = []
  for (let round = 1; round <= rounds; round++) all.push(await measure(round))
  tell(all)
} finally {
  await Promise.all([...workers].map((worker) => worker.stop()))
  rmSync(folder, { recursive: true, force: true })
}

type Round = Awaited<ReturnType<typeof measure>>

async function measure(round: number) {
  console.error(`round ${round} of ${rounds}`)
  const server = await serve(round)
  const example = await set(server.port, BODY)
  const bare = start(['bench/server/bare.ts', example])
  const bareport = (await bare.next()).port as number
  const by64 = {
    connections: 64,
    seconds,
    pauseMs: 0,
    mixed: false,
    path: '/v1/alarms',
    headers: HEADERS,
    body: BODY,
  }
  const stored = start(['bench/server/bare.ts', example, join(folder, `raw-${round}.db`)])
  const storedPort = (await stored.next()).port as number
  // In turns, so that whatever else the machine does falls on all of them.
  const turns: { readonly raw: number; readonly stored: number; readonly sets: number }[] = []
  for (let turn = 0; turn < 2; turn++)
    turns.push({
      raw: (await load({ ...by64, port: bareport })).perSecond,
      stored: (await load({ ...by64, port: storedPort })).perSecond,
      sets: (await load({ ...by64, port: server.port })).perSecond,
    })
  await Promise.all([stop(bare), stop(stored)])
  const sink = start(['bench/server/sink.ts'])
  const sinkPort = (await sink.next()).port as number
  const alone = await storm(server.port, sink, sinkPort)
  const { beside, wakesPerSecond } = await stormBesideCalls(server.port, sink, sinkPort)
  await stop(server.worker)
  await stop(sink)
  const mean = (name: 'raw' | 'stored' | 'sets') => (turns[0]![name] + turns[1]![name]) / 2
  const [raw, withStore, sets] = [mean('raw'), mean('stored'), mean('sets')]
  return {
    raw,
    withStore,
    sets,
    ratio: sets / raw,
    ratioWithStore: sets / withStore,
    wakes: alone.wakesPerSecond,
    wakesBeside: wakesPerSecond,
    ...beside,
  }
}

/** Alarms that fall due at one instant. */
async function storm(port: number, sink: Worker, sinkPort: number, whenDue = async () => {}) {
  const webhook = `http://127.0.0.1:${sinkPort}/wake`
  const fire_at = new Date(Date.now() + 5_000 + wakes / 2).toISOString()
  for (let made = 0; made < wakes; made += 1_000) {
    const items = Array.from({ length: Math.min(1_000, wakes - made) }, (_, n) => ({
      fire_at,
      target: { webhook },
      payload: { n: made + n },
    }))
    await post(port, '/v1/alarms/batch', { items })
  }
  sink.tell({ expect: wakes })
  await new Promise((resolve) => setTimeout(resolve, Date.parse(fire_at) - Date.now() - 1_000))
  const done = whenDue()
  const { lastAt } = (await sink.next()) as { lastAt: number }
  await done
  return { wakesPerSecond: (wakes / (lastAt - Date.parse(fire_at))) * 1000 }
}

/** The same, with the API called beside them. */
async function stormBesideCalls(port: number, sink: Worker, sinkPort: number) {
  let calls: Loaded | null = null
  const { wakesPerSecond } = await storm(port, sink, sinkPort, async () => {
    calls = await load({
      port,
      connections: 8,
      seconds: Math.max(4, wakes / 2_500),
      pauseMs: 40,
      mixed: true,
      path: '/v1/alarms',
      headers: HEADERS,
      body: BODY,
    })
  })
  const { p50, p99, max } = calls as unknown as Loaded
  return { wakesPerSecond, beside: { p50, p99, max } }
}

async function serve(round: number): Promise<{ worker: Worker; port: number }> {
  const store = values.store ?? `sqlite:${join(folder, `round-${round}.db`)}`
  const env = { WAKEFUL_ALLOW_PRIVATE_TARGETS: '1', WAKEFUL_SECRET: 'benchmark'.repeat(4), WAKEFUL_PORT: '0' }
  const worker = start(['src/cli/main.ts', 'serve', '--db', store], env)
  return { worker, port: await portOf(worker) }
}

async function portOf(worker: Worker): Promise<number> {
  for (;;) {
    const line = await worker.next()
    if (typeof line.url === 'string') return Number(new URL(line.url).port)
  }
}

interface Loaded {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

async function load(order: object): Promise<Loaded> {
  const worker = start(['bench/server/load.ts', JSON.stringify(order)])
  const loaded = (await worker.next()) as unknown as Loaded & { statuses: Record<string, number> }
  workers.delete(worker)
  const wrong = Object.keys(loaded.statuses).filter((status) => Number(status) >= 400)
  if (wrong.length > 0) throw new Error(`answered with ${JSON.stringify(loaded.statuses)}`)
  return loaded
}

function start(args: readonly string[], env: Record<string, string> = {}): Worker {
  const worker = startWorker(args, env)
  workers.add(worker)
  return worker
}

async function stop(worker: Worker): Promise<void> {
  workers.delete(worker)
  await worker.stop()
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

function set(port: number, body: unknown): Promise<string> {
  return post(port, '/v1/alarms', body)
}

function tell(all: readonly Round[]): void {
  const of = (name: keyof Round) => median(all.map((round) => round[name]))
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  console.log(`
node ${process.version}, ${cpus().length} cores, server, sink and load each a process; medians of ${rounds}

                                          Wakeful   bare framework          and its rows, raw
POST /v1/alarms, 64 connections, per s   ${whole(of('sets')).padStart(8)}   ${whole(of('raw')).padStart(8)} (${of('ratio').toFixed(2)})   ${whole(of('withStore')).padStart(8)} (${of('ratioWithStore').toFixed(2)})
wakes per second to a local sink         ${whole(of('wakes')).padStart(8)}   (${whole(wakes)} due at one instant)
the same with the API called beside      ${whole(of('wakesBeside')).padStart(8)}
API meanwhile, ms                        p50 ${of('p50').toFixed(1)}, p99 ${of('p99').toFixed(1)}, max ${of('max').toFixed(0)}`)
}
