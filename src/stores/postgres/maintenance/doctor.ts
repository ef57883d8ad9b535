import { errorText } from '../../../error.ts'
import type { Clock } from '../../../time/index.ts'
import {
  type Check,
  check,
  figuresCheck,
  formatCount,
  formatRounded,
  HANDLER_MISSING_MS,
  handlersCheck,
  outdatedAdvice,
  poolChecks,
  SECRET_META,
  type SecretJudge,
  type ShardState,
} from '../../index.ts'
import { missingHandlers } from '../claims/index.ts'
import { CONNECTIONS_PER_PROCESS, Database, type Session } from '../connection/index.ts'
import { readShards } from '../rows/index.ts'
import { foreignTables, MIGRATIONS, schemaVersion, VERSION_MIN } from '../schema/index.ts'
import * as sql from '../sql/index.ts'
import { rightsOf } from './privileges.ts'
import { HEALTH_LIMITS, type HealthLimits, healthChecks } from './server-health.ts'

const EXAMINE = {
  server: `SELECT current_setting('server_version_num')::int, current_setting('server_version'), pg_is_in_recovery()::int,
    current_setting('default_transaction_read_only')`,
  settings: `SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    current_setting('statement_timeout'), current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int, (SELECT count(*) FROM pg_stat_activity
      WHERE backend_type = 'client backend')`,
  relations: `SELECT c.relname, coalesce(i.indisvalid, true)::int FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid WHERE n.nspname = $1`,
  breaking: `SELECT name FROM wakeful.migrations WHERE number > $1::bigint AND breaking ORDER BY number LIMIT 1`,
  processes: `SELECT holder, lease_until FROM wakeful.processes ORDER BY holder`,
  figures: `SELECT (SELECT coalesce(sum(pending + fired), 0)::bigint FROM wakeful.tallies),
    (SELECT coalesce(sum(total), 0)::bigint FROM wakeful.tallies),
    (SELECT count(*) FROM (SELECT DISTINCT tenant, owner, alarm FROM wakeful.timers) live)`,
} as const

/** How many missing handlers are read. */
const MISSING_MAX = 20
const CLOCK_SAMPLES = 5
/** Alarms fire by the database's clock: a larger difference from the host's is reported. */
const SKEW_MS_MAX = 10_000
/** Counting everything may take a while. */
const STATEMENT_TIMEOUT_MS = 60_000

/**
 * Checks a database without changing it: server, settings, schema, rights, clocks, lag, figures, vacuum, snapshots.
 */
export async function examinePostgres(
  url: string,
  clock: Clock,
  limits: HealthLimits = HEALTH_LIMITS,
  judgeSecret?: SecretJudge,
): Promise<Check[]> {
  let database: Database
  try {
    database = await Database.open({ url, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
  } catch (thrown) {
    return [check('server', false, errorText(thrown), 'see the message')]
  }
  try {
    const look = (name: string, work: () => Promise<Check[]>) => guarded(database, name, work)
    return [
      await serverCheck(database),
      ...(await look('settings', () => settingsChecks(database))),
      ...(await look('schema', () => storeChecks(database, clock, limits, judgeSecret))),
    ]
  } catch (thrown) {
    return [unreadable(database, 'server', thrown)]
  } finally {
    await database.close()
  }
}

/** The contents of the schema; if it cannot be read, only the rights that are missing. */
async function storeChecks(
  database: Database,
  clock: Clock,
  limits: HealthLimits,
  judgeSecret: SecretJudge | undefined,
): Promise<Check[]> {
  const { session } = database
  const rights = await rightsOf(session)
  if (!rights.canRead) return [rights.check]
  const version = await schemaVersion(session)
  // An empty database, or the tables of an unreleased version.
  if (version < MIGRATIONS[0]!.number) return [await schemaCheck(database, version)]
  const look = (name: string, work: () => Promise<Check[]>) => guarded(database, name, work)
  return [
    ...(await look('schema', async () => [await schemaCheck(database, version)])),
    ...(await look('clock', () => clockChecks(database, clock))),
    ...(await look('handlers', () => handlerChecks(database))),
    ...(await look('secret', async () =>
      judgeSecret === undefined ? [] : [judgeSecret(await secretOf(session))],
    )),
    ...(await look('figures', () => figures(session))),
    rights.check,
    ...(await healthChecks(session, look, limits)),
  ]
}

/** Each by itself: a missing right for one must not hide the others. */
async function guarded(database: Database, name: string, work: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await work()
  } catch (thrown) {
    return [unreadable(database, name, thrown)]
  }
}

function unreadable(database: Database, name: string, thrown: unknown): Check {
  const failure = database.failure(foreignTables(thrown, database))
  return check(name, false, errorText(failure), 'see the message')
}

async function serverCheck({ session, isPooled }: Database): Promise<Check> {
  const row = (await session.row(EXAMINE.server)) as [number, string, number, string]
  const [number, version, isStandby, readOnly] = row
  if (isStandby === 1)
    return check('server', false, `PostgreSQL ${version}, a standby`, 'point the URL at the primary')
  if (readOnly === 'on') {
    const advice = 'switch it off for this role: ALTER ROLE … SET default_transaction_read_only = off'
    return check('server', false, `PostgreSQL ${version}, default_transaction_read_only is on`, advice)
  }
  const way = isPooled ? ', through a pooler: what other processes set is found within 2s' : ''
  return check('server', number >= VERSION_MIN, `PostgreSQL ${version}${way}`, 'Wakeful needs 14 or newer')
}

async function settingsChecks({ session, isPooled }: Database): Promise<Check[]> {
  const row = (await session.row(EXAMINE.settings)) as [string, string, string, string, number, number]
  const [fsync, fullPages, commit, timeout, connections, used] = row
  const isDurable = fsync === 'on' && fullPages === 'on' && commit !== 'off'
  const free = connections - used
  return [
    check(
      'durability',
      isDurable,
      `fsync ${fsync}, full_page_writes ${fullPages}, synchronous_commit ${commit}`,
      'switch them on: a crash of the server would lose alarms that `set` has answered for',
    ),
    check(
      'connections',
      free >= CONNECTIONS_PER_PROCESS,
      `${used} of ${connections} in use; a process of Wakeful has at most ${CONNECTIONS_PER_PROCESS}`,
      'raise max_connections, or put PgBouncer in between',
    ),
    // Without a pooler, Wakeful ends them itself.
    ...(isPooled
      ? [check('statements', true, timeout === '0' ? 'have no limit' : `end after ${timeout}`)]
      : []),
  ]
}

async function schemaCheck({ session, dialect }: Database, version: number): Promise<Check> {
  const newest = MIGRATIONS.at(-1)!.number
  const known = `version ${version}, this Wakeful knows ${newest}`
  if (version < newest) return check('schema', false, known, outdatedAdvice(version, MIGRATIONS))
  const breaking = (await session.row(EXAMINE.breaking, newest)) as [string] | undefined
  if (breaking !== undefined) return check('schema', false, `${known}: ${breaking[0]}`, 'upgrade Wakeful')
  const rows = (await session.rows(EXAMINE.relations, dialect.plainSchema)) as [string, number][]
  const found = new Map(rows)
  const differences = madeNames().flatMap((name) => {
    if (!found.has(name)) return [`${name} is missing`]
    return found.get(name) === 1 ? [] : [`${name} is not valid`]
  })
  return check(
    'schema',
    differences.length === 0,
    [known, ...differences].join('; '),
    'somebody has changed it: make it again as `wakeful migrate --sql` has it for a new schema',
  )
}

/** The tables, sequences and indexes of the migrations, by name. */
function madeNames(): string[] {
  const text = MIGRATIONS.map((each) => each.sql).join('\n')
  const made = /^CREATE (?:TABLE|SEQUENCE|(?:UNIQUE )?INDEX) (?:wakeful\.)?(\w+)/gm
  return [...new Set([...text.matchAll(made)].map(([, name]) => name!))]
}

async function clockChecks(database: Database, host: Clock): Promise<Check[]> {
  const { now, skewMs } = await measure(database, host)
  const skew = check(
    'clock',
    Math.abs(skewMs) <= SKEW_MS_MAX,
    Math.abs(skewMs) < 1_000
      ? 'this host and the database agree'
      : `this host is ${formatRounded(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the database, by which alarms fire`,
    'set the clock that is wrong; if it is this host’s, alarms fire on time all the same',
  )
  const owners = (await database.session.rows(EXAMINE.processes)) as [string, number][]
  const ended = owners.filter(([, leaseUntil]) => leaseUntil <= now)
  const isOwned = (shard: ShardState) => shard.holder !== null
  const shards = await readShards(database, null)
  const pools = Map.groupBy(shards, ({ pool }) => pool)
  return [
    skew,
    ownersCheck(owners.length, ended, now, shards.every(isOwned)),
    ...[...pools].flatMap(([pool, own]) =>
      poolChecks(pool, own, now, (holders, free) => servedBy(own.length, holders, free)),
    ),
  ]
}

async function handlerChecks({ session }: Database): Promise<Check[]> {
  const [now] = (await session.row(sql.clockNow, null)) as [number]
  return [handlersCheck(await missingHandlers(session, now - HANDLER_MISSING_MS, MISSING_MAX))]
}

/** The database's clock and how far the host's is ahead of it, by the fastest of several readings. */
async function measure({ session }: Database, host: Clock): Promise<{ now: number; skewMs: number }> {
  let best: { tripMs: number; now: number; skewMs: number } | null = null
  for (let i = 0; i < CLOCK_SAMPLES; i++) {
    const sentAt = host.monotonic()
    const [now] = (await session.row(sql.clockNow, null)) as [number]
    const tripMs = host.monotonic() - sentAt
    if (best === null || tripMs < best.tripMs)
      best = { tripMs, now, skewMs: Math.round(host.now() - tripMs / 2 - now) }
  }
  return best!
}

/** A process whose lease has ended is dead; the next heartbeat of another one takes its shards over. */
function ownersCheck(
  all: number,
  ended: readonly (readonly [string, number])[],
  now: number,
  allOwned: boolean,
): Check {
  const dead = ended.map(([owner, until]) => `${owner} (lease ended ${formatRounded(now - until)} ago)`)
  const alive = `${formatCount(all - ended.length)} alive`
  return check(
    'processes',
    dead.length === 0 || allOwned,
    [alive, ...(dead.length === 0 ? [] : [`dead: ${dead.join(', ')}`])].join('; '),
    'they died or hang, and no process has taken over yet: start a process that serves their pools',
  )
}

function servedBy(all: number, holders: readonly string[], free: readonly ShardState[]): string {
  const pending = free.reduce((sum, shard) => sum + shard.pending, 0)
  const rest = free.length === 0 ? '' : `, ${free.length} have no owner (${pending} pending)`
  return `${all} shards, served by ${formatCount(holders.length)} process${holders.length === 1 ? '' : 'es'}${rest}`
}

/** The fingerprint of the store's secret; null before the first webhook. */
async function secretOf(session: Session): Promise<string | null> {
  return ((await session.row(sql.meta, SECRET_META))?.[0] ?? null) as string | null
}

async function figures(session: Session): Promise<Check[]> {
  const [kept, total, live] = (await session.row(EXAMINE.figures)) as [number, number, number]
  return [figuresCheck(kept, live, total)]
}
