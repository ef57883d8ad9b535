import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { open, type Wakeful } from '../../src/index.ts'
import { withServer } from '../postgres/server.ts'
import { quantile } from '../statistics.ts'
import { inTemporaryFolder } from '../temporary-store.ts'
import { batches } from '../workload.ts'

/** How much is done. */
export interface Sizes {
  /** Recurring alarms; each fires once a second. */
  readonly alarms: number
  readonly rounds: number
  /** The length of each of the two parts of a round. */
  readonly seconds: number
  readonly retentionSeconds: number
}

/** One part of a round, without its beginning. */
export interface Part {
  readonly firesPerSecond: number
  readonly p50: number
  readonly p99: number
  /** Rows of the log when it ended. */
  readonly rows: number
}

/** The parts of a round: on a store whose log grows, and on one with retention. */
export interface Round {
  readonly without: Part
  readonly with: Part
}

export type StoreName = 'sqlite' | 'postgres'

/** The part of each part that is not measured: what was missed while the other store was used is fired then. */
const WARM_UP_SHARE = 0.25

/** Measures all rounds on one store. The two parts take turns, so that other load on the machine blurs both alike. */
export async function measureStore(
  store: StoreName,
  sizes: Sizes,
  onProgress: (phase: string) => void,
): Promise<Round[]> {
  if (store === 'sqlite') {
    return inTemporaryFolder((folder) =>
      measure((name) => Promise.resolve(`sqlite:${join(folder, `${name}.db`)}`), sizes, onProgress),
    )
  }
  return withServer((server) =>
    measure((name) => server.createDatabase(`retention_${name}`), sizes, onProgress),
  )
}

async function measure(
  create: (name: string) => Promise<string>,
  sizes: Sizes,
  onProgress: (phase: string) => void,
): Promise<Round[]> {
  const urls = { without: await create('without'), with: await create('with') }
  for (const url of Object.values(urls)) await fill(url, sizes.alarms)
  const rounds: Round[] = []
  for (let round = 1; round <= sizes.rounds; round++) {
    onProgress(`round ${round}, without retention`)
    const without = await run(urls.without, null, sizes)
    onProgress(`round ${round}, with retention`)
    const kept = await run(urls.with, `${sizes.retentionSeconds}s`, sizes)
    rounds.push({ without, with: kept })
  }
  return rounds
}

/** Sets the alarms. Their instants are spread over the second. */
async function fill(url: string, alarms: number): Promise<void> {
  const wakeful = await open(url)
  const base = Date.now()
  let done = 0
  for (const size of batches(alarms)) {
    const items = Array.from({ length: size }, (_, index) => ({
      when: { every: '1s', start: new Date(base + Math.floor(((done + index) * 1000) / alarms)) },
      target: 'tick',
    }))
    await wakeful.setMany(items)
    done += size
  }
  await wakeful.close()
}

async function run(url: string, retention: string | null, { seconds }: Sizes): Promise<Part> {
  const wakeful: Wakeful = await open(url, { retention })
  const lateness: number[] = []
  let isMeasured = false
  wakeful.handle('tick', ({ driftMs }) => {
    if (isMeasured) lateness.push(driftMs)
  })
  await wakeful.start()
  const warmUpMs = seconds * 1000 * WARM_UP_SHARE
  await sleep(warmUpMs)
  isMeasured = true
  await sleep(seconds * 1000 - warmUpMs)
  isMeasured = false
  const sorted = Float64Array.from(lateness).sort()
  const rows = await countRows(url)
  await wakeful.close()
  return {
    firesPerSecond: lateness.length / (seconds * (1 - WARM_UP_SHARE)),
    p50: quantile([...sorted], 0.5),
    p99: quantile([...sorted], 0.99),
    rows,
  }
}

async function countRows(url: string): Promise<number> {
  if (url.startsWith('sqlite:')) {
    const file = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
    const { n } = file.prepare('SELECT count(*) AS n FROM wakeful_events').get() as { n: number }
    file.close()
    return n
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ n: string }>('SELECT count(*) AS n FROM wakeful.events')
  await client.end()
  return Number(rows[0]!.n)
}
