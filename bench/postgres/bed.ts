import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts'
import { perSecond } from '../bed.ts'

/** A PostgreSQL of the benchmark's own, with a database for each that is measured on it. */
export interface Bed {
  /** Makes a database of this name, empty, and answers its URL. */
  fresh(name: string): Promise<string>
  /** Leaves no work of one measurement to the next: dead rows are gone, and what was written is on disk. */
  settle(url: string, isLarge?: boolean): Promise<void>
  /** Starts a stopwatch over this process and the server. */
  pace(): (count: number) => Cost
}

/** How many a second; and the processor time each took in this process and in the server, in microseconds. */
export interface Cost {
  readonly perSecond: number
  readonly clientUs: number
  /** Not a number where the system does not tell. */
  readonly serverUs: number
}

/** Starts the server, runs work on it, and ends it. */
export async function onServer<T>(work: (bed: Bed) => Promise<T>): Promise<T> {
  const server = await startPostgres()
  const stop = () => void server.stop().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  const admin = new pg.Client({ connectionString: server.url() })
  try {
    await admin.connect()
    return await work(await bedOn(server, admin))
  } finally {
    process.off('SIGINT', stop)
    await admin.end()
    await server.stop()
  }
}

async function bedOn(server: PostgresServer, admin: pg.Client): Promise<Bed> {
  const { rows } = await admin.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const postmaster = statOf(rows[0]!.pid)?.parent ?? null
  return {
    async fresh(name) {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await admin.query(`CREATE DATABASE ${name}`)
      return server.url(name)
    },
    async settle(url, isLarge = false) {
      await onDatabase(url, (client) => client.query(isLarge ? 'ANALYZE' : 'VACUUM ANALYZE'))
      await admin.query('CHECKPOINT')
    },
    pace() {
      const [startedAt, own, theirs] = [performance.now(), process.cpuUsage(), serverUs(postmaster)]
      return (count) => {
        const { user, system } = process.cpuUsage(own)
        return {
          perSecond: perSecond(count, startedAt),
          clientUs: (user + system) / count,
          serverUs: (serverUs(postmaster) - theirs) / count,
        }
      }
    },
  }
}

/** Runs work with a connection of its own. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Linux counts in hundredths of a second. */
const TICK_US = 10_000

/** The processor time of the server: of those of its processes that live, and of those that have ended. */
function serverUs(postmaster: number | null): number {
  if (postmaster === null) return Number.NaN
  let ticks = statOf(postmaster)?.withEnded ?? 0
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null
    if (stat?.parent === postmaster) ticks += stat.own
  }
  return ticks * TICK_US
}

function statOf(pid: number): { parent: number; own: number; withEnded: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = (from: number, to: number) =>
      fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), own: ticks(11, 13), withEnded: ticks(11, 15) }
  } catch {
    return null
  }
}
