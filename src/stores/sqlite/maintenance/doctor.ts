import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorText } from '../../../error.ts'
import { lastDate } from '../../../time/index.ts'
import {
  type Check,
  check,
  figuresCheck,
  formatCount,
  HANDLER_MISSING_MS,
  handlersCheck,
  outdatedAdvice,
  poolChecks,
  SECRET_META,
  type SecretJudge,
} from '../../index.ts'
import { missingHandlers } from '../claims/index.ts'
import { connect, nodeSqlite, Session, storeFailure } from '../connection/index.ts'
import { readShards } from '../ownership/index.ts'
import { CALENDAR_QUERIES, calendarNamed } from '../rows/index.ts'
import { MIGRATIONS, migrationSql, schemaVersion } from '../schema/index.ts'

/** A calendar should reach further than this. */
const CALENDAR_MS_MIN = 60 * 86_400_000
/** How many missing handlers are read. */
const MISSING_MAX = 20
const FREE_BYTES_MIN = 100 * 1024 * 1024

interface CalendarName {
  readonly tenant: string
  readonly name: string
}

/** Checks a database without changing it: file, schema, integrity, lease holders, lag, tallies, disk. */
export function examine(path: string, now: number, judgeSecret?: SecretJudge): Check[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    return [check('file', false, `${path} is a directory`, 'name the file in it: --db FILE')]
  let session: Session | null = null
  try {
    session = new Session(connect(path, { readOnly: path !== ':memory:' }))
    return checksOf(session, path, now, judgeSecret)
  } catch (thrown) {
    // A file that cannot be opened and asked for its version is not a store, or is damaged.
    return [
      unreadable('file', thrown, path, 'is it the file you meant (--db)? If so, restore it from a backup'),
    ]
  } finally {
    session?.db.close()
  }
}

function checksOf(session: Session, path: string, now: number, judgeSecret?: SecretJudge): Check[] {
  const version = schemaVersion(session.db)
  const schema = schemaCheck(session, version)
  // An empty database, or the tables of an unreleased version.
  if (version < MIGRATIONS[0]!.number) return [schema]
  // Each check alone: in a damaged file, report whatever can still be read.
  const guarded = (name: string, look: () => Check[]) => {
    try {
      return look()
    } catch (thrown) {
      return [unreadable(name, thrown, path, 'restore the file from a backup')]
    }
  }
  return [
    check('sqlite', true, `version ${session.get<{ v: string }>('SELECT sqlite_version() AS v')!.v}`),
    schema,
    ...guarded('integrity', () => [integrity(session)]),
    ...guarded('clocks', () =>
      readShards(session, path).flatMap((shard) =>
        poolChecks(shard.pool, [shard], now, ([holder]) => holder!),
      ),
    ),
    ...guarded('handlers', () => [
      handlersCheck(missingHandlers(session, now - HANDLER_MISSING_MS, MISSING_MAX)),
    ]),
    ...guarded('secret', () => (judgeSecret === undefined ? [] : [judgeSecret(secretOf(session))])),
    ...guarded('figures', () => [figures(session)]),
    ...guarded('calendars', () => calendars(session, now)),
    ...(path === ':memory:' ? [] : [disk(path)]),
  ]
}

function schemaCheck(session: Session, version: number): Check {
  const newest = MIGRATIONS.at(-1)!.number
  const known = `version ${version}, this Wakeful knows ${newest}`
  if (version < newest) return check('schema', false, known, outdatedAdvice(version, MIGRATIONS))
  if (version > newest) return check('schema', false, known, 'upgrade Wakeful')
  const differences = schemaDifferences(session)
  return check(
    'schema',
    differences.length === 0,
    [known, ...differences].join('; '),
    'another program has changed it: run `wakeful export`, then `wakeful import` into a new file',
  )
}

/** How the schema differs from a new one, by the SQL that SQLite stores of each table and index. */
function schemaDifferences(session: Session): string[] {
  const fresh = new Session(new nodeSqlite.DatabaseSync(':memory:'))
  try {
    fresh.db.exec(migrationSql(':memory:', 0))
    const [made, found] = [schemaOf(fresh), schemaOf(session)]
    return [
      ...[...made.keys()].filter((name) => !found.has(name)).map((name) => `${name} is missing`),
      ...[...made]
        .filter(([name, sql]) => (found.get(name) ?? sql) !== sql)
        .map(([name]) => `${name} differs`),
      ...[...found.keys()].filter((name) => !made.has(name)).map((name) => `${name} is not Wakeful’s`),
    ]
  } finally {
    fresh.db.close()
  }
}

function schemaOf(session: Session): Map<string, string> {
  // `migrate` creates the table of migrations, not a migration.
  const rows = session.all<{ name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE name LIKE 'wakeful%' AND name <> 'wakeful_migrations'
      AND sql IS NOT NULL ORDER BY name`,
  )
  return new Map(rows.map(({ name, sql }) => [name, sql]))
}

function unreadable(name: string, thrown: unknown, path: string, advice: string): Check {
  return check(name, false, errorText(storeFailure(thrown, path)), advice)
}

/** The fingerprint of the store's secret; null before the first webhook. */
function secretOf(session: Session): string | null {
  return session.get<{ value: string }>(CALENDAR_QUERIES.meta, SECRET_META)?.value ?? null
}

function integrity(session: Session): Check {
  const rows = session.all<{ quick_check: string }>('PRAGMA quick_check(5)').map((row) => row.quick_check)
  const ok = rows.length === 1 && rows[0] === 'ok'
  return check('integrity', ok, rows.join('; '), 'restore the file from a backup')
}

/** Tallies are updated with every change of an alarm: they must equal a recount. */
function figures(session: Session): Check {
  const kept = session.get<{ live: number; total: number }>(
    'SELECT coalesce(sum(pending + fired), 0) AS live, coalesce(sum(total), 0) AS total FROM wakeful_tallies',
  )!
  const { live } = session.get<{ live: number }>(
    'SELECT count(*) AS live FROM (SELECT DISTINCT tenant, owner, alarm FROM wakeful_timers)',
  )!
  return figuresCheck(kept.live, live, kept.total)
}

/** Calendars without dates in the near future: their alarms continue, and no day is off any more. */
function calendars(session: Session, now: number): Check[] {
  return session.all<CalendarName>(CALENDAR_QUERIES.all).flatMap(({ tenant, name }) => {
    const calendar = calendarNamed(session, tenant, name)
    const last = calendar === undefined ? null : lastDate(calendar)
    if (last === null || Date.parse(`${last}T00:00:00Z`) - now > CALENDAR_MS_MIN) return []
    const label = tenant === 'default' ? name : `${name} of ${tenant}`
    return [check(`calendar ${label}`, true, `it has no dates after ${last}: add more if more days are off`)]
  })
}

function disk(path: string): Check {
  const { bavail, bsize } = statfsSync(dirname(path) || '.')
  const free = bavail * bsize
  return check(
    'disk',
    free >= FREE_BYTES_MIN,
    `${formatCount(Math.round(free / 1024 / 1024))} MiB free`,
    'free some space: a full disk stops every write',
  )
}
