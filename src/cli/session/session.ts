import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { connect } from '../../client/index.ts'
import { WakefulError } from '../../error.ts'
import { missingStore } from '../../hosts/node/index.ts'
import type { Alarms, OpenOptions, ParsedView, Wakeful } from '../../index.ts'
import type { Preview } from '../../time/index.ts'
import {
  commandName,
  fileOf,
  type Globals,
  type Location,
  locationOf,
  scopeOf,
  storeUrl,
  zoneOf,
} from '../arguments/index.ts'
import { badUsage, type CliContext, Output } from '../terminal/index.ts'

/** The alarms of a tenant and owner, in a store or on a server. */
export interface Session {
  /** The opened store; null with a server. */
  readonly wakeful: Wakeful | null
  readonly alarms: LocalOrRemoteAlarms
  readonly out: Output
  /** The URL of the store or server. */
  readonly url: string
  /** The zone in which times are read and printed. */
  readonly zone: string
  readonly now: () => number
}

/**
 * What a command needs of the store: `any` creates a missing store, `existing` uses an empty one in memory instead of
 * creating files or tables in the wrong place, `none` opens no store.
 */
export type StoreRequirement = 'any' | 'existing' | 'none'

/** A session on a store. */
export interface StoreSession extends Session {
  readonly wakeful: Wakeful
  readonly alarms: Alarms
}

/** Does work on the alarms of a server or a store, and closes the store after it. */
export async function withSession<T>(
  shell: CliContext,
  command: Command,
  need: StoreRequirement,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const globals: Globals = command.optsWithGlobals()
  const place = locationOf(globals, shell.terminal.env)
  // A command that needs no store needs no server either.
  if (place.kind === 'store' || need === 'none')
    return inStore(shell, globals, place.kind === 'store' ? place.url : '', need, work)
  return work(throughServer(shell, globals, place))
}

/** Does work that needs a store, and closes the store after it. */
export async function withStore<T>(
  shell: CliContext,
  command: Command,
  need: StoreRequirement,
  work: (session: StoreSession) => Promise<T>,
  choices: OpenOptions = {},
): Promise<T> {
  const globals: Globals = command.optsWithGlobals()
  return inStore(
    shell,
    globals,
    storeUrl(globals, shell.terminal.env, commandName(command)),
    need,
    work,
    choices,
  )
}

function throughServer(
  { terminal }: CliContext,
  globals: Globals,
  { url, key }: Extract<Location, { kind: 'server' }>,
): Session {
  if (globals.trustClock === true) throw badUsage('--trust-clock needs a store. Leave it out, or --url.')
  const zone = zoneOf(globals)
  const alarms = connect(url, { timezone: zone, ...scopeOf(globals), ...(key !== undefined && { key }) })
  const out = new Output(terminal, globals.json === true)
  return { wakeful: null, alarms, out, url: alarms.url, zone, now: () => terminal.now() }
}

async function inStore<T>(
  shell: CliContext,
  globals: Globals,
  url: string,
  need: StoreRequirement,
  work: (session: StoreSession) => Promise<T>,
  choices: OpenOptions = {},
): Promise<T> {
  const { terminal } = shell
  const out = new Output(terminal, globals.json === true)
  const zone = zoneOf(globals)
  const scope = scopeOf(globals)
  const wakeful = await shell.open(await urlToOpen(url, need, out), {
    timezone: zone,
    createdVia: 'cli',
    ...(globals.trustClock === true && { trustClock: true }),
    ...scope,
    ...choices,
  })
  try {
    return await work({
      wakeful,
      alarms: wakeful,
      out,
      url,
      zone,
      now: () => terminal.now(),
    })
  } finally {
    await wakeful.close()
  }
}

async function urlToOpen(url: string, need: StoreRequirement, out: Output): Promise<string> {
  if (need === 'none') return 'sqlite::memory:'
  const missing = need === 'any' ? null : await missingStore(url)
  if (missing === null) return url
  out.note(`note: there is no store at ${missing} yet; name another with --db or WAKEFUL_DB`)
  return 'sqlite::memory:'
}

/** A store that is not opened, for the commands that work on all of it. */
interface UnscopedStore {
  readonly url: string
  readonly out: Output
}

/** The store of a command; `existing` rejects one that does not exist. */
export function unscopedStore(shell: CliContext, command: Command, need: 'any' | 'existing'): UnscopedStore {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, shell.terminal.env, commandName(command))
  const file = fileOf(url)
  if (need === 'existing' && file !== null && !existsSync(file)) {
    throw new WakefulError('store.file_missing', { file })
  }
  return { url, out: new Output(shell.terminal, globals.json === true) }
}

type Different = 'calendars' | 'preview' | 'parse'
type MaybeLater<T> = T | Promise<T>

/** What the library and the client have in common. */
export interface LocalOrRemoteAlarms extends Omit<Alarms, Different> {
  preview(...args: Parameters<Alarms['preview']>): MaybeLater<Preview>
  parse(...args: Parameters<Alarms['parse']>): MaybeLater<ParsedView>
}
