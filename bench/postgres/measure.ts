import { withWakeful } from '../bed.ts'
import {
  CALLERS,
  drain,
  FAR,
  type Lateness,
  lateness,
  OPTIONS,
  PAST,
  setAlone,
  setBy64,
  setMany,
} from '../measures.ts'
import type { Bed, Cost } from './bed.ts'
import { type Cancels, cancels } from './cancels.ts'
import { fill } from './fill.ts'
import { graphile, type Peer, pgBoss } from './peers.ts'
import { Raw } from './raw.ts'
import { drainBy } from './several.ts'

/** What is measured of everybody. */
export const RATES = ['setAlone', 'setBy64', 'setMany', 'drain'] as const
export type Rate = (typeof RATES)[number]

/** Who is measured. */
export type Name = 'Wakeful' | 'raw' | 'graphile-worker' | 'pg-boss'

/** What one round measures; peers are left out beside many pending rows. */
export interface Round {
  readonly rates: Readonly<Record<Rate, Partial<Record<Name, Cost>>>>
  readonly lateness: Lateness
  readonly cancels: Cancels
  readonly cancelsNear: Cancels
  readonly drainBy1: number
  readonly drainBy2: number
}

/** How much of each is done. */
export interface Sizes {
  readonly rows: number
  readonly late: number
  readonly lateOverMs: number
  readonly pending: number
}

type Say = (phase: string) => void

/** Runs rounds on one server, each of everything, so that all share what the machine does meanwhile. */
export async function measureRounds(bed: Bed, rounds: number, sizes: Sizes, say: Say): Promise<Round[]> {
  const url = await bed.fresh('bench_wakeful')
  await withWakeful(url, (wakeful) => wakeful.set(FAR, OPTIONS))
  if (sizes.pending > 0) {
    say(`filling in ${sizes.pending.toLocaleString('en-US')} pending alarms`)
    await fill(url, sizes.pending)
  }
  const peers =
    sizes.pending > 0
      ? []
      : [await graphile(await bed.fresh('bench_graphile')), await pgBoss(await bed.fresh('bench_pgboss'))]
  try {
    const done: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      done.push(
        await measureRound({
          bed,
          url,
          peers,
          sizes,
          round,
          say: (phase) => say(`round ${round}: ${phase}`),
        }),
      )
    }
    return done
  } finally {
    for (const peer of peers) await peer.close()
  }
}

interface Place {
  readonly bed: Bed
  readonly url: string
  readonly peers: readonly Peer[]
  readonly sizes: Sizes
  readonly round: number
  readonly say: Say
}

type Contender = readonly [Name, (rate: Rate, count: number) => Promise<Cost>]

async function measureRound(place: Place): Promise<Round> {
  const { url, peers, sizes, round, say } = place
  const all: Contender[] = [
    ['Wakeful', (rate, count) => ofWakeful(place, rate, count)],
    ['raw', (rate, count) => ofRaw(place, rate, count)],
    ...peers.map((peer): Contender => [peer.name, (rate, count) => ofPeer(place, peer, rate, count)]),
  ]
  const rates = { setAlone: {}, setBy64: {}, setMany: {}, drain: {} } as Record<
    Rate,
    Partial<Record<Name, Cost>>
  >
  for (const rate of RATES) {
    // Each is first, second, last in turn.
    for (let i = 0; i < all.length; i++) {
      const [name, run] = all[(i + round) % all.length]!
      say(`${rate}, ${name}`)
      rates[rate][name] = await run(rate, countOf(rate, name, sizes.rows))
    }
  }
  say('lateness')
  const late = await withWakeful(url, (wakeful) => lateness(wakeful, sizes.late, sizes.lateOverMs))
  say('cancels')
  const far = await withWakeful(url, (wakeful) => cancels(wakeful, sizes.rows, '30d'))
  const near = await withWakeful(url, (wakeful) => cancels(wakeful, sizes.rows, '60s'))
  say('drain by one process and by two')
  const by = { 1: 0, 2: 0 }
  for (const processes of round % 2 === 0 ? ([1, 2] as const) : ([2, 1] as const)) {
    await refill(place, sizes.rows)
    by[processes] = await drainBy(processes, url, sizes.rows)
  }
  return { rates, lateness: late, cancels: far, cancelsNear: near, drainBy1: by[1], drainBy2: by[2] }
}

/** As many as take a comparable time: one by one is slow, and peers share no commits. */
function countOf(rate: Rate, name: Name, rows: number): number {
  if (rate === 'setAlone') return 500
  if (rate === 'setBy64') return name === 'Wakeful' || name === 'raw' ? 100 * CALLERS : 10 * CALLERS
  return rows
}

function refill({ bed, url, sizes }: Place, count: number): Promise<void> {
  return withWakeful(url, async (wakeful) => {
    await setMany(wakeful, count, PAST)
    await bed.settle(url, sizes.pending > 0)
  })
}

async function ofWakeful(place: Place, rate: Rate, count: number): Promise<Cost> {
  if (rate === 'drain') await refill(place, count)
  return withWakeful(place.url, async (wakeful) => {
    const ended = place.bed.pace()
    if (rate === 'setAlone') await setAlone(wakeful, count)
    else if (rate === 'setBy64') await setBy64(wakeful, count)
    else if (rate === 'setMany') await setMany(wakeful, count, FAR)
    else await drain(wakeful, count)
    return ended(count)
  })
}

async function ofRaw(place: Place, rate: Rate, count: number): Promise<Cost> {
  if (rate === 'drain') await refill(place, count)
  const raw = await Raw.open(place.url)
  try {
    const ended = place.bed.pace()
    if (rate === 'drain') await raw.readAndSettle(count)
    else await raw.insert(count, rate === 'setAlone' ? 1 : rate === 'setBy64' ? CALLERS : 1000)
    return ended(count)
  } finally {
    await raw.close()
  }
}

async function ofPeer({ bed, sizes }: Place, peer: Peer, rate: Rate, count: number): Promise<Cost> {
  const far = new Date(Date.now() + 30 * 86_400_000)
  const past = new Date(Date.now() - 1000)
  const bulks = async (at: Date) => {
    for (let done = 0; done < count; done += 1000) await peer.bulk(1000, at)
  }
  if (rate === 'drain') {
    await bulks(past)
    await bed.settle(peer.url, sizes.pending > 0)
  }
  const ended = bed.pace()
  if (rate === 'drain') {
    const stop = await peer.drain(count)
    const cost = ended(count)
    await stop()
    return cost
  }
  if (rate === 'setAlone') for (let i = 0; i < count; i++) await peer.one(far)
  else if (rate === 'setBy64') {
    const caller = async () => {
      for (let i = 0; i < count / CALLERS; i++) await peer.one(far)
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
  } else await bulks(far)
  return ended(count)
}
