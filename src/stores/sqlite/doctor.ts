import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { formatDuration } from '../../time/index.ts'
import { connect } from './connection.ts'
import { schemaVersion } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { Session } from './session.ts'
import { readShards } from './shards.ts'

/** One thing that was looked at. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What would help, where it is not well. */
  readonly advice?: string
}

const LAG_MS_MAX = 10_000
const FREE_BYTES_MIN = 100 * 1024 * 1024

/** Looks a database over without changing it: file, schema, soundness, clock owners, lag, figures, disk. */
export function examine(path: string, now: number): Check[] {
  const session = new Session(connect(path, { readOnly: path !== ':memory:' }))
  try {
    const version = schemaVersion(session.db)
    const newest = MIGRATIONS.at(-1)!.number
    const schema = check(
      'schema',
      version === newest,
      `version ${version}, this Wakeful knows ${newest}`,
      'run `wakeful migrate`',
    )
    if (version === 0) return [schema]
    return [
      check('sqlite', true, `version ${session.get<{ v: string }>('SELECT sqlite_version() AS v')!.v}`),
      schema,
      soundness(session),
      ...shards(session, path, now),
      figures(session),
      ...(path === ':memory:' ? [] : [disk(path)]),
    ]
  } finally {
    session.db.close()
  }
}

function soundness(session: Session): Check {
  const rows = session.all<{ quick_check: string }>('PRAGMA quick_check(5)').map((row) => row.quick_check)
  const ok = rows.length === 1 && rows[0] === 'ok'
  return check('integrity', ok, rows.join('; '), 'restore the file from a backup')
}

function shards(session: Session, path: string, now: number): Check[] {
  return readShards(session, path).flatMap(({ pool, owner, pending, nextWakeAt }) => {
    const lag = nextWakeAt === null ? 0 : Math.max(0, now - nextWakeAt)
    const detail =
      owner ?? (pending > 0 ? `nobody runs it, ${pending} pending` : 'nobody runs it, and nothing waits')
    return [
      check(
        `clock of pool ${pool}`,
        owner !== null || pending === 0,
        detail,
        `start a process that serves pool ${pool}`,
      ),
      check(
        `lag of pool ${pool}`,
        lag <= LAG_MS_MAX,
        `${formatDuration(Math.round(lag))}, ${pending} pending`,
        'see `wakeful list --order due` and `wakeful why ID` for what is waiting',
      ),
    ]
  })
}

/** The figures are kept as alarms move: they must equal a recount. */
function figures(session: Session): Check {
  const kept = session.get<{ live: number; total: number }>(
    'SELECT coalesce(sum(pending + fired), 0) AS live, coalesce(sum(total), 0) AS total FROM wakeful_tallies',
  )!
  const { live } = session.get<{ live: number }>(
    'SELECT count(*) AS live FROM (SELECT DISTINCT tenant, owner, alarm FROM wakeful_timers)',
  )!
  return check(
    'figures',
    kept.live === live,
    `${live} live of ${kept.total} ever set`,
    'please report this: the figures are off',
  )
}

function disk(path: string): Check {
  const { bavail, bsize } = statfsSync(dirname(path) || '.')
  const free = bavail * bsize
  return check(
    'disk',
    free >= FREE_BYTES_MIN,
    `${Math.round(free / 1024 / 1024)} MiB free`,
    'make room: a full disk stops every write',
  )
}

function check(name: string, ok: boolean, detail: string, advice = ''): Check {
  return ok ? { name, ok, detail } : { name, ok, detail, advice }
}
