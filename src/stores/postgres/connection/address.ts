import { display, WakefulError } from '../../../error.ts'
import { closest } from '../../../time/index.ts'
import type { Timers } from '../../sharded/index.ts'
import type { Driver } from './driver.ts'
import { boundOf, clientClass } from './session.ts'

/** A database's address, and Wakeful's own parameters of its URL. */
export interface Address {
  /** The URL without Wakeful's own parameters. */
  readonly url: URL
  readonly schema: string
  /** Whether a pooler is in between; null to detect it. */
  readonly pooler: boolean | null
  /** Whether to use named prepared statements; null to decide by the pooler. */
  readonly prepare: boolean | null
}

/** The URL parameters that `pg` reads, and those of other clients that it can ignore. */
const KNOWN: readonly string[] = [
  'user', 'password', 'host', 'port', 'application_name', 'fallback_application_name', 'client_encoding', 'options',
  'ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat', 'statement_timeout',
  'lock_timeout', 'query_timeout', 'idle_in_transaction_session_timeout', 'keepAlive', 'keepAliveInitialDelayMillis',
  'connect_timeout', 'channel_binding', 'target_session_attrs', 'gssencmode',
] // biome-ignore format: a list
const OWN: readonly string[] = ['schema', 'pooler', 'prepare']
/** `pg` 8 treats these alike and warns of all but the last: its next version may treat them differently. */
const VERIFIED: readonly string[] = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full']
const SSL_MODES: readonly string[] = ['disable', 'no-verify', ...VERIFIED]

/** Parses a URL, and removes what is not for the server. */
export function addressOf({ url: text, schema }: { url: string; schema?: string | undefined }): Address {
  const url = parsed(text)
  refuseUnknown(url)
  settleSsl(url)
  const named = schema ?? url.searchParams.get('schema') ?? 'wakeful'
  url.searchParams.delete('schema')
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(named)) {
    throw new WakefulError('store.schema_name', { schema: display(named) })
  }
  return { url, schema: named, pooler: choice(url, 'pooler'), prepare: choice(url, 'prepare') }
}

/** No part of an invalid URL is shown, nor kept as the cause: a password may be anywhere in it. */
function parsed(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^[a-z]+:\/\//i.test(text)) {
    throw new WakefulError('store.url_malformed', {})
  }
  const names = [...url.searchParams.keys()]
  if (url.hash !== '' || [url.pathname, ...names].some((part) => part.includes('@'))) {
    throw new WakefulError('store.url_unencoded', {})
  }
  return url
}

function refuseUnknown({ searchParams }: URL): void {
  const known = [...OWN, ...KNOWN]
  const unknown = [...new Set(searchParams.keys())].find((name) => !known.includes(name))
  if (unknown === undefined) return
  const near = closest(unknown.toLowerCase(), known)
  throw new WakefulError('store.url_parameter', { name: display(unknown), near, known: OWN })
}

function settleSsl({ searchParams }: URL): void {
  const mode = searchParams.get('sslmode')
  if (mode === null) return
  if (!SSL_MODES.includes(mode)) {
    throw new WakefulError('store.url_value', { name: 'sslmode', value: mode, allowed: SSL_MODES })
  }
  const asLibpq = searchParams.get('uselibpqcompat') === 'true'
  if (VERIFIED.includes(mode) && !asLibpq) searchParams.set('sslmode', 'verify-full')
}

function choice(url: URL, name: string): boolean | null {
  const value = url.searchParams.get(name)
  url.searchParams.delete(name)
  if (value === null) return null
  if (value === 'yes' || value === 'no') return value === 'yes'
  throw new WakefulError('store.url_value', { name, value, allowed: ['yes', 'no'] })
}

/**
 * Whether a pooler answers instead of the server. One that shares server connections cannot tell its client the
 * server's process id, and makes one up.
 */
export async function hasPooler(
  driver: Driver,
  url: URL,
  timers: Timers,
  connectTimeoutMs: number,
): Promise<boolean> {
  const Client = clientClass(driver, timers, connectTimeoutMs)
  const client = new Client({ connectionString: url.href })
  client.on('error', () => {})
  try {
    await client.connect()
    const answer = client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const { rows } = await boundOf(timers, client, connectTimeoutMs)(answer)
    return rows[0]?.pid !== (client as unknown as { processID: number | null }).processID
  } finally {
    await client.end().catch(() => {})
  }
}
