import { type Command, Help, Option } from 'commander'
import { assertTimezone } from '../../time/index.ts'
import { badUsage, type Terminal } from '../terminal/index.ts'
import { systemZone } from '../text/index.ts'
import { commandName } from './command.ts'

/** What can be said on every command. */
export interface Globals {
  readonly db?: string
  readonly url?: string
  readonly tenant?: string
  readonly owner?: string
  readonly timezone?: string
  readonly json?: boolean
  readonly trustClock?: boolean
}

/** The store where none is named. */
export const STORE_DEFAULT = 'sqlite:./wakeful.db'

/** Adds the options of every command. */
export function addGlobals(program: Command): Command {
  return program
    .option('--db <url>', 'the store: sqlite:FILE, just the file, or postgres://… (WAKEFUL_DB)', undefined)
    .option('--url <url>', 'work through this server instead, with the key in WAKEFUL_KEY (WAKEFUL_URL)')
    .option('--tenant <name>', 'work as this tenant')
    .option('--owner <name>', 'work as this owner')
    .option('--timezone <zone>', 'read and show times in this zone (default: the system’s)')
    .option('--json', 'print JSON')
    .option('--trust-clock', 'believe the wall clock, however far from what the store last saw')
}

/** What works on the store itself, and refuses a server. */
const STORE_ONLY: ReadonlySet<string> = new Set([
  'serve',
  'keys',
  'calendar',
  'export',
  'import',
  'backup',
  'migrate',
  'doctor',
  'bench',
])
const SERVED_ZONE = new Option(
  '--timezone <zone>',
  'the zone of calls that name none (default: UTC), and of times printed here (default: the system’s)',
)

/** The options of every command as this one's help tells of them: what it would refuse is left out. */
export function globalsOf(command: Command): Option[] {
  const [name = ''] = commandName(command).split(' ')
  const all = Object.assign(new Help(), { showGlobalOptions: true }).visibleGlobalOptions(command)
  const shown = STORE_ONLY.has(name) ? all.filter(({ long }) => long !== '--url') : all
  return name === 'serve' ? shown.map((each) => (each.long === '--timezone' ? SERVED_ZONE : each)) : shown
}

/** Where the alarms are: in a store, or on a server. */
export type Location =
  | { readonly kind: 'store'; readonly url: string }
  | { readonly kind: 'server'; readonly url: string; readonly key?: string }

/** What to work on: what an option names comes first, then a server of the environment's, then its store. */
export function locationOf(globals: Globals, env: Terminal['env']): Location {
  const db = given('--db', globals.db)
  const server = given('--url', globals.url)
  if (db !== null && server !== null)
    throw badUsage('--db is the store itself, --url a server that has one: give one of them')
  const url = server ?? (db === null ? filled(env.WAKEFUL_URL) : null)
  if (url === null) return { kind: 'store', url: normalizeUrl(db ?? filled(env.WAKEFUL_DB) ?? STORE_DEFAULT) }
  // From the environment alone: arguments can be read by whoever lists the processes of a machine.
  const key = filled(env.WAKEFUL_KEY)?.trim()
  return { kind: 'server', url, ...(key !== undefined && { key }) }
}

/** The store to work on, for a command that a server does not offer. */
export function storeUrl(globals: Globals, env: Terminal['env'], command: string): string {
  const place = locationOf(globals, env)
  if (place.kind === 'store') return place.url
  const named = globals.url === undefined ? 'WAKEFUL_URL is set, but ' : ''
  throw badUsage(
    `${named}${command} works on the store itself, not through a server: run it where the store is, with --db`,
  )
}

/** The zone in which times are read and shown: `--timezone`, else this machine's. */
export function zoneOf(globals: Globals): string {
  return assertTimezone(globals.timezone ?? systemZone())
}

/** A bare path means a SQLite file; one letter before a colon is a drive of Windows, not a scheme. */
export function normalizeUrl(given: string): string {
  if (given === ':memory:') return 'sqlite::memory:'
  return /^[a-z][a-z0-9+.-]+:/i.test(given) ? given : `sqlite:${given}`
}

/** The file behind a store's address; null where it lies in none. */
export function fileOf(url: string): string | null {
  const path = /^sqlite:(?:\/\/(?=\/))?(.*)$/i.exec(url)?.[1]
  return path === undefined || path === '' || path.startsWith(':memory:') ? null : path
}

/** Whether the store is gone when its process ends. */
export function isInMemory(url: string): boolean {
  return /^sqlite::memory:/i.test(url)
}

/** Whose alarms are worked on: `--tenant` and `--owner`, where they were given. */
export function scopeOf({ tenant, owner }: Globals): { tenant?: string; owner?: string } {
  if (tenant?.trim() === '') throw badUsage('--tenant is empty: name one, or leave it out')
  return { ...(tenant !== undefined && { tenant }), ...(owner !== undefined && { owner }) }
}

function given(flag: string, text: string | undefined): string | null {
  const value = filled(text)
  if (text === undefined || value !== null) return value
  throw badUsage(`${flag} is empty: give ${flag === '--db' ? 'a file' : 'an address'}, or leave it out`)
}

function filled(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text
}
