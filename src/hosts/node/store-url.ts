import { WakefulError } from '../../error.ts'

/** The path of a store's URL: `sqlite:alarms.db`, `sqlite::memory:`, or a bare path. */
export function storePath(url: string): string {
  if (typeof url !== 'string' || url === '')
    throw new WakefulError('invalid_request', "open takes a store, e.g. 'sqlite:alarms.db'")
  if (url.includes('\0'))
    throw new WakefulError('invalid_request', 'the path of the store contains a NUL character')
  if (/^postgres(ql)?:/.test(url)) {
    throw new WakefulError(
      'invalid_request',
      'this version keeps alarms in SQLite only: use sqlite:alarms.db',
    )
  }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/|$)/, '') : url
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new WakefulError(
      'invalid_request',
      `unknown kind of store ${JSON.stringify(url)}: use sqlite:alarms.db`,
    )
  if (path === '')
    throw new WakefulError(
      'invalid_request',
      'the store has no path: write sqlite:alarms.db or sqlite::memory:',
    )
  return path
}
