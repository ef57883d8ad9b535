import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Wakeful } from '../../src/index.ts'
import { startPostgres } from '../../test/postgres/server.ts'
import { type Entered, inEvery } from './coverage.ts'
import { Recorder, type Round, type RoundEnd } from './recorder.ts'

/** One walk through the code, on one store. */
export interface WalkFigures {
  readonly walk: WalkName
  readonly store: StoreName
  /** Steps from file to file, over all paths. */
  readonly hops: number
  /** The files entered, in the order of their first use. */
  readonly files: readonly string[]
  /** From the start to the row; before it, where one is sent, to the HTTP request. */
  readonly paths: readonly (readonly string[])[]
  /** Files left out: all that runs in them also runs while nothing happens. */
  readonly idle: readonly string[]
}

export type WalkName = 'POST to row' | 'set() to row' | 'due row to webhook and event'
type StoreName = 'SQLite' | 'PostgreSQL'

interface Walk extends RoundEnd {
  readonly name: WalkName
  /** Done before each round, and not measured. */
  readonly prepare: () => Promise<unknown>
  readonly call: () => Promise<unknown>
}

const ROUNDS = 5
const WARM_UP_ROUNDS = 2
/** How long before its due time the walk of an alarm begins; less than `LATE_MS` left, and it is prepared again. */
const LEAD_MS = 40
const LATE_MS = 15
const DUE_IN_MS = 200

const ALARM_ROW = /\binsert into \S*alarms\b/i
const EVENT_ROW = /\binsert into \S*events\b/i

/** Measures every walk on both stores, with servers and files of its own that are gone afterwards. */
export async function measureWalks(): Promise<WalkFigures[]> {
  await using cleanup = new AsyncDisposableStack()
  const stop = () => void cleanup.disposeAsync().finally(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
  const recorder = cleanup.adopt(new Recorder(), (each) => each.close())
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-measure-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const webhook = await startReceiver(cleanup)
  const postgres = cleanup.adopt(await startPostgres(), (server) => server.stop())
  const onSqlite = await measureStore(recorder, 'SQLite', `sqlite:${join(folder, 'alarms.db')}`, webhook)
  const onPostgres = await measureStore(recorder, 'PostgreSQL', postgres.url(), webhook)
  return onSqlite.flatMap((figures, index) => [figures, onPostgres[index]!])
}

async function measureStore(
  recorder: Recorder,
  store: StoreName,
  url: string,
  webhook: string,
): Promise<WalkFigures[]> {
  await using cleanup = new AsyncDisposableStack()
  // Loaded here, after coverage has started.
  const { open } = await import('../../src/index.ts')
  const { startServer } = await import('../../src/server/index.ts')
  const wakeful = cleanup.adopt(
    await open(url, {
      timezone: 'UTC',
      allowPrivateTargets: true,
      secret: 'a secret for this measurement alone',
    }),
    (each) => each.close(),
  )
  const server = await startServer({ wakeful, host: '127.0.0.1', port: 0, version: '0.0.0' })
  cleanup.defer(() => server.close())
  const measured: WalkFigures[] = []
  // The clock does not run in the first two: nothing but the call runs.
  for (const walk of [postWalk(server.url, webhook), setWalk(wakeful, webhook)])
    measured.push(await measure(recorder, store, walk))
  await wakeful.start()
  measured.push(await measure(recorder, store, fireWalk(wakeful, webhook)))
  return measured
}

function postWalk(server: string, webhook: string): Walk {
  const alarm = { delay: '1h', target: { webhook }, wake_message: 'call the client', payload: { order: 7 } }
  const call = async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(alarm)
    const answer = await fetch(`${server}/v1/alarms`, { method: 'POST', headers, body })
    const text = await answer.text()
    if (answer.status !== 201) throw new Error(`POST /v1/alarms answered ${answer.status}: ${text}`)
  }
  return { name: 'POST to row', row: ALARM_ROW, sendsRequest: false, prepare: async () => {}, call }
}

function setWalk(wakeful: Wakeful, webhook: string): Walk {
  const call = () => setAlarm(wakeful, webhook, '1h')
  return { name: 'set() to row', row: ALARM_ROW, sendsRequest: false, prepare: async () => {}, call }
}

function fireWalk(wakeful: Wakeful, webhook: string): Walk {
  const prepare = async () => {
    for (;;) {
      const { nextFireAt } = await setAlarm(wakeful, webhook, `${DUE_IN_MS}ms`)
      const leftMs = () => nextFireAt!.getTime() - Date.now()
      await sleep(Math.max(0, leftMs() - LEAD_MS))
      if (leftMs() > LATE_MS) return
      await sleep(DUE_IN_MS)
    }
  }
  const name = 'due row to webhook and event'
  return { name, row: EVENT_ROW, sendsRequest: true, prepare, call: async () => {} }
}

function setAlarm(wakeful: Wakeful, webhook: string, delay: string) {
  return wakeful.set({ delay }, { target: { webhook }, message: 'call the client', payload: { order: 7 } })
}

async function measure(recorder: Recorder, store: StoreName, walk: Walk): Promise<WalkFigures> {
  const rounds: Round[] = []
  for (let i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
    await walk.prepare()
    rounds.push(await recorder.round(walk, walk.call))
  }
  rounds.splice(0, WARM_UP_ROUNDS)
  await walk.prepare()
  const order = await recorder.order(walk, walk.call)
  const entered = inEvery(rounds.map((round) => round.entered))
  const idle = await idleWork(recorder, Math.max(...rounds.map(({ durationMs: tookMs }) => tookMs)))
  const isIdle = (path: string) => [...entered.get(path)!].every((name) => idle.get(path)?.has(name))
  const place = (path: string) => (order.includes(path) ? order.indexOf(path) : order.length)
  const { paths } = rounds.reduce((least, round) =>
    hopsOf(round.paths) < hopsOf(least.paths) ? round : least,
  )
  const files = [...entered.keys()].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
  return {
    walk: walk.name,
    store,
    hops: hopsOf(paths),
    files: files.filter((path) => !isIdle(path)),
    paths,
    idle: files.filter(isIdle),
  }
}

/** What runs in every interval of this length although nothing happens. */
async function idleWork(recorder: Recorder, ms: number): Promise<Entered> {
  // What the last round started ends first.
  await sleep(DUE_IN_MS)
  const intervals: Entered[] = []
  for (let i = 0; i < ROUNDS; i++) {
    recorder.coverage.read()
    await sleep(ms)
    intervals.push(recorder.coverage.read())
  }
  return inEvery(intervals)
}

function hopsOf(paths: Round['paths']): number {
  return paths.reduce((sum, path) => sum + path.length - 1, 0)
}

/** A receiver of webhooks that accepts each. */
async function startReceiver(cleanup: AsyncDisposableStack): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/wake`
}
