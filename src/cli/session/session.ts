import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { connect, type RemoteAlarms } from '../../client/index.ts'
import { WakefulError } from '../../error.ts'
import { missingStore, storeFile } from '../../hosts/node/index.ts'
import { type Alarms, type OpenOptions, open, type Wakeful } from '../../index.ts'
import { defined } from '../../library/index.ts'
import { commandName, type Globals, locationOf, scopeOf, storeUrl, zoneOf } from '../arguments/index.ts'
import { type CliContext, Output } from '../terminal/index.ts'

/** What the library and the client have in common. */
export type LocalOrRemoteAlarms = Alarms | RemoteAlarms

/** The alarms of a tenant and owner, in a store or on a server. */
export interface Session {
  /** The opened store; null with a server. */
  readonly wakeful: Wakeful | null
  readonly alarms: LocalOrRemoteAlarms
  readonly out: Output
  readonly globals: Globals
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
 * What a command needs of the store: `any` creates a missing store, `existing` uses an empty one in memory instead of
 * creating files or tables in the wrong place, `none` opens no store.
 */
export type StoreRequirement = 'any' | 'existing' | 'none'

/** Does work on the alarms of a server or a store, and closes the store after it. */
export async function withSession(
  shell: CliContext,
  command: Command,
  need: StoreRequirement,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const globals: Globals = command.optsWithGlobals()
  const { terminal } = shell
  const location = locationOf(globals, terminal.env)
  // A command that needs no store needs no server either.
  if (location.kind === 'store' || need === 'none') return inStore(shell, globals, location.url, need, work)
  if (globals.trustClock === true) throw new WakefulError('cli.needs_store', {}, { field: 'trustClock' })
  const zone = zoneOf(globals)
  const { url, key } = location
  const alarms = connect(url, defined({ timezone: zone, ...scopeOf(globals), key }))
  const out = new Output(terminal, globals.json === true)
  return work({ wakeful: null, alarms, out, globals, url: alarms.url, zone, now: () => terminal.now() })
}

/** The action of a command that does all its work in a session. The work gets the arguments and options after it. */
export function onAlarms<Args extends unknown[]>(
  shell: CliContext,
  need: StoreRequirement,
  work: (session: Session, ...args: Args) => Promise<void>,
) {
  return (...args: unknown[]): Promise<void> =>
    withSession(shell, args.at(-1) as Command, need, (session) => work(session, ...(args as Args)))
}

/** The same for a command that needs a store. */
export function onStore<Args extends unknown[]>(
  shell: CliContext,
  need: StoreRequirement,
  work: (session: StoreSession, ...args: Args) => Promise<void>,
) {
  return (...args: unknown[]): Promise<void> =>
    withStore(shell, args.at(-1) as Command, need, (session) => work(session, ...(args as Args)))
}

/** Does work that needs a store, and closes the store after it. */
export async function withStore(
  shell: CliContext,
  command: Command,
  need: StoreRequirement,
  work: (session: StoreSession) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, shell.terminal.env, commandName(command))
  return inStore(shell, globals, url, need, work, options)
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
  const missing = need === 'existing' ? await missingStore(url) : null
  if (missing !== null)
    out.note(`note: there is no store at ${missing} yet; name another with --db or WAKEFUL_DB`)
  const wakeful = await open(missing !== null || need === 'none' ? 'sqlite::memory:' : url, {
    timezone: zone,
    createdVia: 'cli',
    ...defined({ trustClock: globals.trustClock }),
    ...scope,
    ...options,
  })
  try {
    await work({ wakeful, alarms: wakeful, out, globals, url, zone, now: () => terminal.now() })
  } finally {
    await wakeful.close()
  }
}

/** The URL of a store, for commands that open it themselves. `existing` refuses a store that does not exist. */
export function unopenedStore(
  shell: CliContext,
  command: Command,
  need: 'any' | 'existing',
): Pick<Session, 'url' | 'out'> {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, shell.terminal.env, commandName(command))
  const file = storeFile(url)
  if (need === 'existing' && file !== null && !existsSync(file))
    throw new WakefulError('store.file_missing', { file })
  return { url, out: new Output(shell.terminal, globals.json === true) }
}
