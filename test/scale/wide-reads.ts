import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AlarmReads, type AlarmView, type ListPage, open, type Wakeful } from '../../src/index.ts'
import { ask } from '../chaos/postgres-evidence.ts'
import { startPostgres } from '../postgres/server.ts'
import { fill } from './fill.ts'
import { fillPostgres, type Spread } from './postgres-fill.ts'

/** Every tenant has as many alarms, half of them pending, and ten owners with all labels. */
const SPREAD: Spread = {
  tenant: "'t' || (n % 1000)",
  owner: "'o' || (n / 2000 % 10)",
  label: "'l' || (n / 20000 % 5)",
}
const TENANTS = 1_000
/** A target that both fills use. */
const TARGET = 'work2'
export type StoreName = 'sqlite' | 'postgres'

/** The medians of one read, in milliseconds: of one owner, of all owners of a tenant, and of all tenants. */
export interface Medians {
  readonly owner: number
  readonly tenant: number
  readonly all: number
}

interface Read {
  /** The tenants by number that have what is read: the fill gives all ended alarms of a tenant one outcome. */
  readonly tenants: readonly [from: number, to: number]
  readonly run: (alarms: AlarmReads, limit: number) => Promise<{ readonly length: number } | null>
}

const EVERY = [0, 999] as const
/** Follows the cursor of a page that ended because few of many alarms matched. */
const list = (options: Parameters<AlarmReads['list']>[0]) => async (alarms: AlarmReads, limit: number) => {
  const found: AlarmView[] = []
  for (let next: { cursor?: string } | null = {}; next !== null && found.length < limit; ) {
    const { items, nextCursor }: ListPage = await alarms.list({ ...options, ...next, limit })
    found.push(...items)
    next = nextCursor === null ? null : { cursor: nextCursor }
  }
  return found
}

const READS: Readonly<Record<string, Read>> = {
  newest: { tenants: EVERY, run: list({}) },
  due: { tenants: EVERY, run: list({ order: 'due' }) },
  pending: { tenants: EVERY, run: list({ status: 'pending' }) },
  label: { tenants: EVERY, run: list({ label: 'l3' }) },
  target: { tenants: EVERY, run: list({ target: TARGET }) },
  'status fired': { tenants: [0, 70], run: list({ status: 'fired' }) },
  'status completed': { tenants: [76, 86], run: list({ status: 'completed' }) },
  'history cancelled': {
    tenants: [91, 93],
    run: (alarms, limit) => alarms.history({ status: 'cancelled', limit }),
  },
  failed: { tenants: [96, 97], run: (alarms, limit) => alarms.failed({ limit }) },
  stats: {
    tenants: EVERY,
    run: async (alarms) => {
      await alarms.stats()
      return null
    },
  },
}

/**
 * Fills a store with this many alarms of a thousand tenants, and times each read, the three in turn. The limit is at most
 * what an owner has of each label, so that all pages have as many alarms.
 */
export async function timeWideReads(
  store: StoreName,
  rows: number,
  limit: number,
  rounds: number,
): Promise<Record<string, Medians>> {
  return store === 'sqlite' ? onSqlite(rows, limit, rounds) : onPostgres(rows, limit, rounds)
}

async function onSqlite(rows: number, limit: number, rounds: number): Promise<Record<string, Medians>> {
  const directory = mkdtempSync(join(tmpdir(), 'wakeful-wide-'))
  try {
    const path = join(directory, 'wide.db')
    await fill(path, rows, { ended: 'seq / 1000 % 2 = 1', ...SPREAD })
    return await timeIn(`sqlite:${path}`, limit, rounds)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function onPostgres(rows: number, limit: number, rounds: number): Promise<Record<string, Medians>> {
  const server = await startPostgres()
  try {
    await ask(server.url(), 'CREATE DATABASE wide')
    await fillPostgres(server.url('wide'), rows / 2, SPREAD)
    return await timeIn(server.url('wide'), limit, rounds)
  } finally {
    await server.stop()
  }
}

async function timeIn(url: string, limit: number, rounds: number): Promise<Record<string, Medians>> {
  const wakeful = await open(url)
  try {
    const medians: Record<string, Medians> = {}
    for (const [name, read] of Object.entries(READS))
      medians[name] = await timed(wakeful, read, limit, rounds)
    return medians
  } finally {
    await wakeful.close()
  }
}

async function timed(
  wakeful: Wakeful,
  { tenants: [from, to], run }: Read,
  limit: number,
  rounds: number,
): Promise<Medians> {
  const times = { owner: [] as number[], tenant: [] as number[], all: [] as number[] }
  for (let round = -2; round < rounds; round++) {
    const tenant = `t${from + ((((round + 2) * 37) % TENANTS) % (to - from + 1))}`
    const views = {
      owner: wakeful.forTenant(tenant, `o${(round + 2) % 10}`),
      tenant: wakeful.allOwners(tenant),
      all: wakeful.allTenants(),
    }
    for (const breadth of ['owner', 'tenant', 'all'] as const) {
      const startedAt = performance.now()
      const found = await run(views[breadth], limit)
      // The first rounds prepare the statements.
      if (round >= 0) times[breadth].push(performance.now() - startedAt)
      if (found !== null && found.length < limit) throw new Error(`${breadth}: a page of ${found.length}`)
    }
  }
  return { owner: median(times.owner), tenant: median(times.tenant), all: median(times.all) }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
