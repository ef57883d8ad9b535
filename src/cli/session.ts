import type { Command } from 'commander'
import { missingStore } from '../hosts/node/index.ts'
import type { Alarms, OpenOptions, Wakeful } from '../index.ts'
import { type Globals, scopeOf, storeUrl, zoneOf } from './globals.ts'
import { Output } from './output.ts'
import type { Shell } from './shell.ts'

/** An open store, seen as the tenant and owner that were asked for. */
export interface Session {
  readonly wakeful: Wakeful
  /** What most commands need of it, and all that a server will offer them. */
  readonly alarms: Alarms
  readonly out: Output
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

/** Opens the store for the length of one command's work, and closes it whatever happens. */
export async function withSession<T>(
  shell: Shell,
  command: Command,
  need: Need,
  work: (session: Session) => Promise<T>,
  choices: OpenOptions = {},
): Promise<T> {
  const globals: Globals = command.optsWithGlobals()
  const { terminal } = shell
  const out = new Output(terminal, globals.json === true)
  const zone = zoneOf(globals)
  const url = storeUrl(globals, terminal.env)
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
  out.aside(`note: there is no store at ${missing} yet; --db or WAKEFUL_DB names another`)
  return 'sqlite::memory:'
}
