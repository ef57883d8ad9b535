import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { connect, type RemoteAlarms } from '../../client/index.ts'
import { WakefulError } from '../../error.ts'
import { missingStorePlace, storeFile } from '../../hosts/node/index.ts'
import { type Alarms, type OpenOptions, open, type Wakeful } from '../../index.ts'
import { withoutUndefined } from '../../library/index.ts'
import {
  commandName,
  type Globals,
  locationOf,
  phrasesOf,
  scopeOf,
  storeUrl,
  zoneOf,
} from '../arguments/index.ts'
import { type CliContext, Output } from '../terminal/index.ts'

/** What the library and the client have in common. */
export type LocalOrRemoteAlarms = Alarms | RemoteAlarms

/** The alarms of a tenant and owner, in a store or on a server. */
export interface Session {
  /** The opened store; null with a server. */
  readonly wakeful: Wakeful | null
  readonly alarms: LocalOrRemoteAlarms
  /** The alarms of every owner of the tenant, and of every tenant, to read. */
  readonly wide: Pick<RemoteAlarms, 'allOwners' | 'allTenants'>
  readonly out: Output
  readonly globals: Globals
  /** Whether a server is called with a key. */
  readonly hasKey: boolean
  /** The URL of the store or server. */
  readonly url: string
  /** The zone in which times are read and printed. */
  readonly zone: string
  readonly now: () => number
}

/** A session on a store. */
export interface StoreSession extends Session {
  readonly wakeful: Wakeful
  readonly alarms: Alarms
}

/**
 * What a command needs of the store: `any` creates a missing store; `existing` reads from an empty store in memory
 * where there is none, so that a mistyped name creates no file or table; `none` needs no store, and gets an empty one in memory.
 */
export type StoreRequirement = 'any' | 'existing' | 'none'

/** Does work on the alarms of a server or a store, and closes the store after it. */
export async function withSession(
  cli: CliContext,
  command: Command,
  need: StoreRequirement,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const globals: Globals = command.optsWithGlobals()
  const { terminal } = cli
  const location = locationOf(globals, terminal.env)
  if (location.kind === 'store') return inStore(cli, globals, location.url, need, work)
  if (globals.trustClock === true) throw new WakefulError('cli.needs_store', {}, { field: 'trustClock' })
  const zone = zoneOf(globals)
  const { url, key } = location
  const alarms = connect(url, withoutUndefined({ timezone: zone, ...scopeOf(globals), key }))
  const out = new Output(terminal, globals.json === true)
  const now = () => terminal.now()
  return work({
    wakeful: null,
    alarms,
    wide: alarms,
    out,
    globals,
    hasKey: key !== undefined,
    url: alarms.url,
    zone,
    now,
  })
}

/** Makes the action of a command: it opens a session, and calls `work(session, ...arguments, options, command)`. */
export function alarmsAction<Args extends unknown[]>(
  cli: CliContext,
  need: StoreRequirement,
  work: (session: Session, ...args: Args) => Promise<void>,
) {
  return (...args: unknown[]): Promise<void> =>
    withSession(cli, args.at(-1) as Command, need, (session) => work(session, ...(args as Args)))
}

/** The same for a command that works on a store, and never through a server. */
export function storeAction<Args extends unknown[]>(
  cli: CliContext,
  need: StoreRequirement,
  work: (session: StoreSession, ...args: Args) => Promise<void>,
) {
  return (...args: unknown[]): Promise<void> =>
    withStore(cli, args.at(-1) as Command, need, (session) => work(session, ...(args as Args)))
}

/** Does work that needs a store, and closes the store after it. */
export async function withStore(
  cli: CliContext,
  command: Command,
  need: StoreRequirement,
  work: (session: StoreSession) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, cli.terminal.env, commandName(command))
  return inStore(cli, globals, url, need, work, options)
}

async function inStore(
  { terminal }: CliContext,
  globals: Globals,
  url: string,
  need: StoreRequirement,
  work: (session: StoreSession) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const out = new Output(terminal, globals.json === true)
  const zone = zoneOf(globals)
  const scope = scopeOf(globals)
  const missing = need === 'existing' ? await missingStorePlace(url) : null
  if (missing !== null)
    out.note(`note: there is no store at ${missing} yet; name another with --db or WAKEFUL_DB`)
  const wakeful = await open(missing !== null || need === 'none' ? 'sqlite::memory:' : url, {
    timezone: zone,
    phrases: phrasesOf(terminal.env),
    createdVia: 'cli',
    ...withoutUndefined({ trustClock: globals.trustClock }),
    ...scope,
    ...options,
  })
  try {
    const now = () => terminal.now()
    await work({ wakeful, alarms: wakeful, wide: wakeful, out, globals, hasKey: false, url, zone, now })
  } finally {
    await wakeful.close()
  }
}

/**
 * The URL of a store and the output, for commands that open the store themselves. `existing` refuses a store that does not
 * exist.
 */
export function storeUrlAndOutput(
  cli: CliContext,
  command: Command,
  need: 'any' | 'existing',
): Pick<Session, 'url' | 'out'> {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, cli.terminal.env, commandName(command))
  const file = storeFile(url)
  if (need === 'existing' && file !== null && !existsSync(file))
    throw new WakefulError('store.file_missing', { file })
  return { url, out: new Output(cli.terminal, globals.json === true) }
}
