import { WakefulError } from '../../error.ts'

/** Whether a store's URL names a PostgreSQL database. */
export function isPostgres(url: string): boolean {
  return typeof url === 'string' && /^postgres(ql)?:/.test(url)
}

/** The path of a SQLite store's URL: `sqlite:alarms.db`, `sqlite::memory:`, or a bare path. */
export function storePath(url: string): string {
  if (typeof url !== 'string' || url === '')
    throw new WakefulError('invalid_request', "open takes a store, e.g. 'sqlite:alarms.db'")
  if (url.includes('\0'))
    throw new WakefulError('invalid_request', 'the path of the store contains a NUL character')
  if (isPostgres(url))
    throw new WakefulError('invalid_request', 'this works on SQLite only: sqlite:alarms.db')
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/|$)/, '') : url
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new WakefulError(
      'invalid_request',
      `unknown kind of store ${JSON.stringify(url)}: use sqlite:alarms.db or postgres://…`,
    )
  if (path === '')
    throw new WakefulError(
      'invalid_request',
      'the store has no path: write sqlite:alarms.db or sqlite::memory:',
    )
  return path
}
