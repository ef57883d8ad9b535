import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts'
import { perSecond } from '../statistics.ts'

/** A PostgreSQL server that the benchmark has to itself. */
export interface BenchServer {
  /** Creates an empty database, replacing one of the same name, and returns its URL. */
  createDatabase(name: string): Promise<string>
  /** Removes dead rows and flushes to disk, so that no measurement pays for the one before. */
  cleanUp(url: string, isLarge: boolean): Promise<void>
  /** Starts a stopwatch for this process and the server; call the result with how many were done since. */
  startStopwatch(): (count: number) => Cost
}

/** How many per second; and the processor time of each in this process and in the server, in microseconds. */
export interface Cost {
  readonly perSecond: number
  readonly clientUs: number
  /** Null on systems without /proc. */
  readonly serverUs: number | null
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Starts the server, runs work on it, and stops it. */
export async function withServer<T>(work: (server: BenchServer) => Promise<T>): Promise<T> {
  const postgres = await startPostgres()
  const stop = () => void postgres.stop().finally(() => process.exit(130))
  for (const signal of SIGNALS) process.once(signal, stop)
  const admin = new pg.Client({ connectionString: postgres.url() })
  try {
    await admin.connect()
    return await work(await benchServer(postgres, admin))
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    await admin.end()
    await postgres.stop()
  }
}

async function benchServer(postgres: PostgresServer, admin: pg.Client): Promise<BenchServer> {
  const { rows } = await admin.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const postmaster = processTimes(rows[0]!.pid)?.parent ?? null
  return {
    async createDatabase(name) {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await admin.query(`CREATE DATABASE ${name}`)
      return postgres.url(name)
    },
    async cleanUp(url, isLarge) {
      await withClient(url, (client) => client.query(isLarge ? 'ANALYZE' : 'VACUUM ANALYZE'))
      await admin.query('CHECKPOINT')
    },
    startStopwatch() {
      const [startedAt, ownBefore, serverBefore] = [
        performance.now(),
        process.cpuUsage(),
        serverTimeUs(postmaster),
      ]
      return (count) => {
        const { user, system } = process.cpuUsage(ownBefore)
        const serverAfter = serverTimeUs(postmaster)
        return {
          perSecond: perSecond(count, startedAt),
          clientUs: (user + system) / count,
          serverUs:
            serverAfter === null || serverBefore === null ? null : (serverAfter - serverBefore) / count,
        }
      }
    },
  }
}

/** Runs work with its own connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const POLL_MS = 5

/** Waits until a query returns no rows. */
export function untilEmpty(url: string, query: string): Promise<void> {
  return withClient(url, async (client) => {
    while ((await client.query(query)).rowCount !== 0)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  })
}

/** Linux counts in hundredths of a second. */
const TICK_US = 10_000

/** The processor time of the server: of its running processes and of those that have ended. */
function serverTimeUs(postmaster: number | null): number | null {
  if (postmaster === null) return null
  let ticks = processTimes(postmaster)?.withChildren ?? 0
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? processTimes(Number(name)) : null
    if (times?.parent === postmaster) ticks += times.own
  }
  return ticks * TICK_US
}

function processTimes(pid: number): { parent: number; own: number; withChildren: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const sum = (from: number, to: number) =>
      fields.slice(from, to).reduce((total, field) => total + Number(field), 0)
    return { parent: Number(fields[1]), own: sum(11, 13), withChildren: sum(11, 15) }
  } catch {
    return null
  }
}
