import { WakefulError } from '../../error.ts'
import { closest } from '../../time/index.ts'

/** The scheme of a store's URL. One letter is a Windows drive, not a scheme. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i
/** Schemes of other programs for PostgreSQL. */
const POSTGRES_NAMES: readonly string[] = ['postgres', 'postgresql', 'psql', 'pgsql', 'pg']

/** Whether a store's URL names a PostgreSQL database. */
export function isPostgres(url: string): boolean {
  return typeof url === 'string' && /^postgres(ql)?:/i.test(url)
}

/** The file of a store; null if it has none: in memory, or PostgreSQL. */
export function storeFile(url: string): string | null {
  const path = isPostgres(url) ? ':memory:' : storePath(url)
  return path === ':memory:' ? null : path
}

/** The path of a SQLite store's URL: `sqlite:alarms.db`, `sqlite::memory:`, or a bare path. */
export function storePath(url: string): string {
  if (typeof url !== 'string' || url === '') throw new WakefulError('store.url', {})
  if (url.includes('\0')) throw new WakefulError('store.nul_character', {})
  if (isPostgres(url)) throw new WakefulError('store.sqlite_only', {})
  const path = /^sqlite:/i.test(url) ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/|$)/, '') : url
  refuseOtherKinds(path)
  if (path === '') throw new WakefulError('store.no_path', {})
  return path
}

/** Errors name only the scheme, because the rest may contain a password. */
function refuseOtherKinds(path: string): void {
  const scheme = SCHEME.exec(path)?.[1]?.toLowerCase()
  if (scheme === undefined) return
  const meant = POSTGRES_NAMES.includes(scheme) || closest(scheme, ['postgres', 'postgresql']) !== null
  if (!meant && !path.slice(scheme.length).startsWith('://')) return
  const known = meant ? ['postgres://user:password@host:5432/database'] : ['sqlite:alarms.db', 'postgres://…']
  throw new WakefulError('store.unknown_kind', { kind: scheme, known })
}

/** Loads the PostgreSQL store on demand, because most users do not need it. */
export function loadPostgres() {
  return import('../../stores/postgres/index.ts')
}

/** The file of a store's secret; null for a store in memory. A PostgreSQL store has no folder of its own. */
export function secretPath(url: string): string | null {
  if (isPostgres(url)) return './wakeful.secret'
  const file = storeFile(url)
  return file === null ? null : `${file}.secret`
}
