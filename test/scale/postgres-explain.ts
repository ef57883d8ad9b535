import { FAIR_QUERIES } from '../../src/stores/postgres/claims/fair-scan.ts'
import { EVENT_QUERIES, LOG_QUERIES } from '../../src/stores/postgres/reads/event-queries.ts'
import { STREAM_QUERIES, UPCOMING } from '../../src/stores/postgres/reads/list.ts'
import * as queries from '../../src/stores/postgres/sql/queries.ts'
import { ask } from '../chaos/postgres-evidence.ts'
import { startPostgres } from '../postgres/server.ts'
import { fillPostgres } from './postgres-fill.ts'
import { logPlans, PLAN_LOGGING, type Run, runsIn } from './postgres-plans.ts'
import { workload } from './postgres-workload.ts'

/** With this type, renaming a query is a type error here. */
type StatementName =
  | keyof typeof queries
  | keyof typeof FAIR_QUERIES
  | keyof typeof STREAM_QUERIES
  | keyof typeof LOG_QUERIES
  | `events ${string & keyof typeof EVENT_QUERIES}`
  | 'upcoming'

/** Statements that must have run: claim, settle, cancel, list, history. */
const NEEDED: readonly StatementName[] = [
  'peekShards', 'nextTimers', 'dueTimers', 'lockOwnShards', 'alarmsToFire', 'insertInFlightBatches', 'pending', 'found', 'heartbeat',
  'shareShards', 'removeClaimedTimers', 'moveClaimedTimers', 'putOutcomes', 'insertEvents', 'addTallies', 'removeInFlightBatches',
  'seqsOfIds', 'nearShards', 'lockAlarms', 'lockTimersOfAlarms', 'snapshotsBySeq',
  'subjectSelection', 'events owner', 'events alarm', 'newestOfAlarm', 'tallyOfOwner', 'seqsOfKeys', 'upcoming',
  ...(Object.keys(STREAM_QUERIES) as (keyof typeof STREAM_QUERIES)[]),
] // biome-ignore format: a list

/** Tables that stay small however many alarms there are. */
const SMALL = new Set([
  'shards',
  'processes',
  'in_flight_batches',
  'meta',
  'calendars',
  'tallies',
  'events_seq_seq',
])
/** No call here concerns more alarms than a page or a batch. */
const READ_MAX = 5_000
const SORTED_MAX = 2_000
const VAIN_MAX = 200
/** Finding or changing a row touches some pages of the table and of each of its indexes. */
const PAGES_EACH = 60
const PAGES_MORE = 100
/** A lookup of a list of rows by number may find none of them. */
const PAGES_MORE_OF_LISTS = 2_500

/** The most that one run of a statement did. */
export interface Most {
  readonly runs: number
  readonly read: number
  readonly vain: number
  readonly sorted: number
  readonly pages: number
}

/** The result: what the statements did, and what is wrong. */
export interface Explained {
  readonly fillMs: number
  readonly most: Readonly<Record<string, Most>>
  readonly wrong: readonly string[]
}

/** Fills a database, works with it, and judges the server's plans of every statement. */
export async function explain(rows: number): Promise<Explained> {
  const server = await startPostgres(PLAN_LOGGING)
  try {
    await ask(server.url(), 'CREATE DATABASE scale')
    const url = server.url('scale')
    const startedAt = performance.now()
    await fillPostgres(url, rows)
    const fillMs = performance.now() - startedAt
    await logPlans(url, 'scale')
    await workload(url)
    return { fillMs, ...judge(runsIn(server.logPath)) }
  } finally {
    await server.stop()
  }
}

function judge(runs: readonly Run[]): Omit<Explained, 'fillMs'> {
  const own = runs.flatMap((run) => {
    const name = NAMES.get(squeezed(run.text))
    return name === undefined ? [] : [{ ...run, name }]
  })
  const byName = Map.groupBy(own, ({ name }) => name)
  const missing = NEEDED.filter((name) => !byName.has(name)).map((name) => `${name} was not run`)
  const wrong = new Set(own.flatMap((run) => faultsOf(run).map((fault) => `${run.name} ${fault}`)))
  return {
    most: Object.fromEntries([...byName].map(([name, each]) => [name, mostOf(each)])),
    wrong: [...missing, ...wrong],
  }
}

function faultsOf({ text, read, vain, sorted, written, pages, scanned }: Run): string[] {
  const pagesMore = /\[\]/.test(text) ? PAGES_MORE_OF_LISTS : PAGES_MORE
  const whole = scanned.filter((table) => !SMALL.has(table))
  return [
    ...whole.map((table) => `reads all of ${table}`),
    ...(read > READ_MAX ? [`reads ${read} rows`] : []),
    ...(vain > VAIN_MAX ? [`reads ${vain} rows in vain`] : []),
    ...(sorted > SORTED_MAX ? [`sorts ${sorted} rows`] : []),
    ...(pages > pagesMore + PAGES_EACH * (read + written) ? [`touches ${pages} pages for ${read} rows`] : []),
  ]
}

function mostOf(runs: readonly Run[]): Most {
  const most = (of: (run: Run) => number) => Math.max(...runs.map(of))
  return {
    runs: runs.length,
    read: most(({ read }) => read),
    vain: most(({ vain }) => vain),
    sorted: most(({ sorted }) => sorted),
    pages: most(({ pages }) => pages),
  }
}

const EVENT_PAGES = Object.fromEntries(
  Object.entries(EVENT_QUERIES).map(([source, { page }]) => [`events ${source}`, page]),
)

/** The server logs them with the store's schema, quoted. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...queries,
    ...STREAM_QUERIES,
    ...FAIR_QUERIES,
    ...EVENT_PAGES,
    ...LOG_QUERIES,
    upcoming: UPCOMING,
  }).map(([name, text]) => [squeezed(text as string), name]),
)

function squeezed(text: string): string {
  return text.replaceAll('"wakeful".', 'wakeful.').replaceAll(/\s+/g, ' ').trim()
}
