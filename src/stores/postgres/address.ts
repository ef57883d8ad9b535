import pg from 'pg'
import { WakefulError } from '../../error.ts'

/** A database's address, and what the URL says beside it. */
export interface Address {
  /** Without what is Wakeful's own. */
  readonly url: URL
  readonly schema: string
  /** Whether a pooler stands in between; null where it is to be found out. */
  readonly pooler: boolean | null
  /** Whether statements are prepared under names; null where that follows from the pooler. */
  readonly prepare: boolean | null
}

/** Reads a URL, and takes out of it what is not for the server. */
export function addressOf({ url: text, schema }: { url: string; schema?: string | undefined }): Address {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new WakefulError(
      'invalid_request',
      'the URL of the database cannot be read: write postgres://user:password@host:5432/database',
      { cause },
    )
  }
  const named = schema ?? url.searchParams.get('schema') ?? 'wakeful'
  url.searchParams.delete('schema')
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(named)) {
    throw new WakefulError(
      'invalid_request',
      `schema ${JSON.stringify(named)} must be lower-case letters, digits and _, at most 48`,
    )
  }
  return { url, schema: named, pooler: choice(url, 'pooler'), prepare: choice(url, 'prepare') }
}

function choice(url: URL, name: string): boolean | null {
  const value = url.searchParams.get(name)
  url.searchParams.delete(name)
  if (value === null) return null
  if (value === 'yes' || value === 'no') return value === 'yes'
  throw new WakefulError('invalid_request', `${name}=${value} in the URL must be yes or no`)
}

/**
 * Whether a pooler answers in the server's stead. One that hands its connections around cannot tell its client the
 * process of a server's, and so makes a number up.
 */
export async function hasPooler(url: URL, connectTimeoutMs: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url.href,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    return rows[0]?.pid !== (client as unknown as { processID: number | null }).processID
  } finally {
    await client.end().catch(() => {})
  }
}
