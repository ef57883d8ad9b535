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
import { badUsage, Output, type Shell } from '../terminal/index.ts'

/** Alarms seen as the tenant and owner that were asked for, in a store or on a server. */
export interface Session {
  /** The store that was opened; null where a server has it. */
  readonly wakeful: Wakeful | null
  /** What most commands need, and all that a server offers them. */
  readonly alarms: AnyAlarms
  readonly out: Output
  /** The address of the store, or of the server. */
  readonly url: string
  /** The zone in which times are read and shown. */
  readonly zone: string
  readonly now: () => number
}

/**
 * What a command needs of the store: `any` makes the store where there is none, `existing` reads an empty one
 * instead of leaving a file or tables behind in the wrong place, `none` touches no store at all.
 */
export type Need = 'any' | 'existing' | 'none'

/** A session on a store that this process has opened itself. */
export interface StoreSession extends Session {
  readonly wakeful: Wakeful
  readonly alarms: Alarms
}

/** Reaches the alarms for the length of one command's work: the server that was named, or else the store. */
export async function withSession<T>(
  shell: Shell,
  command: Command,
  need: Need,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const globals: Globals = command.optsWithGlobals()
  const place = locationOf(globals, shell.terminal.env)
  // What touches no store needs no server either.
  if (place.kind === 'store' || need === 'none')
    return inStore(shell, globals, place.kind === 'store' ? place.url : '', need, work)
  return work(throughServer(shell, globals, place))
}

/** Opens the store for the length of one command's work that a server does not offer. */
export async function withStore<T>(
  shell: Shell,
  command: Command,
  need: Need,
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
  { terminal }: Shell,
  globals: Globals,
  { url, key }: Extract<Location, { kind: 'server' }>,
): Session {
  if (globals.trustClock === true)
    throw badUsage('--trust-clock is for the process that has the store: leave it out, or --url')
  const zone = zoneOf(globals)
  const alarms = connect(url, { timezone: zone, ...scopeOf(globals), ...(key !== undefined && { key }) })
  const out = new Output(terminal, globals.json === true)
  return { wakeful: null, alarms, out, url: alarms.url, zone, now: () => terminal.now() }
}

/** Opens the store, and closes it whatever happens. */
async function inStore<T>(
  shell: Shell,
  globals: Globals,
  url: string,
  need: Need,
  work: (session: StoreSession) => Promise<T>,
  choices: OpenOptions = {},
): Promise<T> {
  const { terminal } = shell
  const out = new Output(terminal, globals.json === true)
  const zone = zoneOf(globals)
  const scope = scopeOf(globals)
  const wakeful = await shell.open(await place(url, need, out), {
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

async function place(url: string, need: Need, out: Output): Promise<string> {
  if (need === 'none') return 'sqlite::memory:'
  const missing = need === 'any' ? null : await missingStore(url)
  if (missing === null) return url
  out.note(`note: there is no store at ${missing} yet; --db or WAKEFUL_DB names another`)
  return 'sqlite::memory:'
}

/** A store as a whole, for the commands that work on all of it. */
interface WholeStore {
  readonly url: string
  readonly out: Output
}

/** The store that was asked for; `existing` refuses to make one where there is none. */
export function wholeStore(shell: Shell, command: Command, need: 'any' | 'existing'): WholeStore {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, shell.terminal.env, commandName(command))
  const file = fileOf(url)
  if (need === 'existing' && file !== null && !existsSync(file)) {
    throw new WakefulError('store.file_missing', { file })
  }
  return { url, out: new Output(shell.terminal, globals.json === true) }
}

type Differing = 'calendars' | 'preview' | 'parse'
type MaybeLater<T> = T | Promise<T>

/** Alarms in a store, or on a server: what both offer. */
export interface AnyAlarms extends Omit<Alarms, Differing> {
  preview(...args: Parameters<Alarms['preview']>): MaybeLater<Preview>
  parse(...args: Parameters<Alarms['parse']>): MaybeLater<ParsedView>
}
