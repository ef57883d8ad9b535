import type { Lateness } from '../statistics.ts'
import { withWakeful } from '../temporary-store.ts'
import {
  BATCH,
  batches,
  by64Callers,
  CALLERS,
  drain,
  FAR,
  lateness,
  PAST,
  setAlone,
  setBy64,
  setMany,
  writeModelRows,
} from '../workload.ts'
import { type CancelFigures, measureCancels } from './cancel.ts'
import { fill } from './fill.ts'
import { drainBy } from './multi-process-drain.ts'
import { graphileWorker, type Peer, pgBoss } from './peers.ts'
import { Raw } from './raw.ts'
import type { BenchServer, Cost } from './server.ts'

/** The rates that are measured of every contender. */
export const RATES = ['setAlone', 'setBy64', 'setMany', 'drain'] as const
export type Rate = (typeof RATES)[number]

/** The contenders. */
export type Name = 'Wakeful' | 'raw' | Peer['name']

/** What one round measures. The peers are only measured on empty tables. */
export interface Round {
  readonly rates: Readonly<Record<Rate, Partial<Record<Name, Cost>>>>
  readonly lateness: Lateness
  readonly cancels: CancelFigures
  /** The same, with alarms that are due within a minute. */
  readonly cancelsSoonDue: CancelFigures
  readonly drainBy1: number
  readonly drainBy2: number
}

/** How much of each is done. */
export interface Sizes {
  readonly rows: number
  readonly alone: number
  readonly by64: number
  /** Fewer, because the peers do not share commits and would take long. */
  readonly by64OfPeers: number
  readonly late: number
  readonly lateOverMs: number
  readonly cancelOverMs: number
  readonly pending: number
}

type OnProgress = (phase: string) => void

/** Runs rounds on one server. Each round measures everything, so that other load on the machine affects all alike. */
export async function measureRounds(
  server: BenchServer,
  rounds: number,
  sizes: Sizes,
  onProgress: OnProgress,
): Promise<Round[]> {
  const url = await server.createDatabase('bench_wakeful')
  await withWakeful(url, writeModelRows)
  if (sizes.pending > 0) {
    onProgress('filling the tables')
    await fill(url, sizes.pending)
  }
  const peers =
    sizes.pending > 0
      ? []
      : [
          await graphileWorker(await server.createDatabase('bench_graphile')),
          await pgBoss(await server.createDatabase('bench_pgboss')),
        ]
  try {
    const done: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      const context = { server, url, peers, sizes, round }
      done.push(await measureRound(context, (phase) => onProgress(`round ${round}: ${phase}`)))
    }
    return done
  } finally {
    for (const peer of peers) await peer.close()
  }
}

interface RoundContext {
  readonly server: BenchServer
  readonly url: string
  readonly peers: readonly Peer[]
  readonly sizes: Sizes
  readonly round: number
}

type Contender = readonly [Name, (rate: Rate, count: number) => Promise<Cost>]

async function measureRound(context: RoundContext, onProgress: OnProgress): Promise<Round> {
  const { url, peers, sizes, round } = context
  const contenders: Contender[] = [
    ['Wakeful', (rate, count) => measureWakeful(context, rate, count)],
    ['raw', (rate, count) => measureRaw(context, rate, count)],
    ...peers.map((peer): Contender => [peer.name, (rate, count) => measurePeer(context, peer, rate, count)]),
  ]
  const rates: Record<Rate, Partial<Record<Name, Cost>>> = {
    setAlone: {},
    setBy64: {},
    setMany: {},
    drain: {},
  }
  for (const rate of RATES) {
    // Each is first in turn.
    for (let i = 0; i < contenders.length; i++) {
      const [name, measure] = contenders[(i + round) % contenders.length]!
      onProgress(`${rate}, ${name}`)
      rates[rate][name] = await measure(rate, countOf(rate, name, sizes))
    }
  }
  onProgress('lateness')
  const late = await withWakeful(url, (wakeful) => lateness(wakeful, sizes.late, sizes.lateOverMs))
  onProgress('cancels')
  const cancels = (delay: string) =>
    withWakeful(url, (wakeful) =>
      measureCancels(wakeful, { count: sizes.rows, overMs: sizes.cancelOverMs, delay }),
    )
  const [cancelsFar, cancelsSoonDue] = [await cancels('30d'), await cancels('60s')]
  onProgress('drain by one process and by two')
  const drained = { 1: 0, 2: 0 }
  for (const processes of round % 2 === 0 ? ([1, 2] as const) : ([2, 1] as const)) {
    await setDue(context, sizes.rows)
    drained[processes] = await drainBy(processes, url, sizes.rows)
  }
  return {
    rates,
    lateness: late,
    cancels: cancelsFar,
    cancelsSoonDue,
    drainBy1: drained[1],
    drainBy2: drained[2],
  }
}

function countOf(rate: Rate, name: Name, sizes: Sizes): number {
  if (rate === 'setAlone') return sizes.alone
  if (rate === 'setBy64') return name === 'Wakeful' || name === 'raw' ? sizes.by64 : sizes.by64OfPeers
  return sizes.rows
}

function setDue({ server, url, sizes }: RoundContext, count: number): Promise<void> {
  return withWakeful(url, async (wakeful) => {
    await setMany(wakeful, count, PAST)
    await server.cleanUp(url, sizes.pending > 0)
  })
}

async function measureWakeful(context: RoundContext, rate: Rate, count: number): Promise<Cost> {
  if (rate === 'drain') await setDue(context, count)
  return withWakeful(context.url, async (wakeful) => {
    const stop = context.server.startStopwatch()
    if (rate === 'setAlone') await setAlone(wakeful, count)
    else if (rate === 'setBy64') await setBy64(wakeful, count)
    else if (rate === 'setMany') await setMany(wakeful, count, FAR)
    else await drain(wakeful, count)
    return stop(count)
  })
}

async function measureRaw(context: RoundContext, rate: Rate, count: number): Promise<Cost> {
  if (rate === 'drain') await setDue(context, count)
  const raw = await Raw.open(context.url)
  try {
    const stop = context.server.startStopwatch()
    if (rate === 'drain') await raw.readAndSettle(count)
    else await raw.insert(count, { setAlone: 1, setBy64: CALLERS, setMany: BATCH }[rate])
    const cost = stop(count)
    const left = rate === 'drain' ? await raw.dueCount() : 0
    if (left > 0) throw new Error(`The raw loop left ${left} timers due`)
    return cost
  } finally {
    await raw.close()
  }
}

async function measurePeer(context: RoundContext, peer: Peer, rate: Rate, count: number): Promise<Cost> {
  const { server, sizes } = context
  const far = new Date(Date.now() + 30 * 86_400_000)
  const past = new Date(Date.now() - 1000)
  const insert = async (at: Date) => {
    for (const size of batches(count)) await peer.insertMany(size, at)
  }
  if (rate === 'drain') {
    await insert(past)
    await server.cleanUp(peer.url, sizes.pending > 0)
  }
  const stop = server.startStopwatch()
  if (rate === 'drain') {
    const stopWorker = await peer.drain(count)
    const cost = stop(count)
    await stopWorker()
    return cost
  }
  if (rate === 'setAlone') for (let i = 0; i < count; i++) await peer.insert(far)
  else if (rate === 'setBy64') await by64Callers(count, () => peer.insert(far))
  else await insert(far)
  return stop(count)
}
