import { type Command, Help, Option } from 'commander'
import { filled, phraseSettings, settingOf } from '../../config/index.ts'
import { WakefulError } from '../../error.ts'
import { withoutUndefined } from '../../library/index.ts'
import { assertTimezone, type PhraseSettings } from '../../time/index.ts'
import type { Terminal } from '../terminal/index.ts'
import { commandName } from './command.ts'

/** The options of every command. */
export interface Globals {
  readonly db?: string
  readonly url?: string
  readonly tenant?: string
  readonly owner?: string
  readonly timezone?: string
  readonly json?: boolean
  readonly trustClock?: boolean
}

/** The default store. */
export const STORE_DEFAULT = 'sqlite:./wakeful.db'

/** Adds the options of every command. */
export function addGlobals(program: Command): Command {
  return program
    .option('--db <url>', 'the store: sqlite:FILE, a file, or postgres://… (WAKEFUL_DB)', undefined)
    .option('--url <url>', 'use this server instead of a store, with the key in WAKEFUL_KEY (WAKEFUL_URL)')
    .option('--tenant <name>', 'act as this tenant')
    .option('--owner <name>', 'act as this owner')
    .option('--timezone <zone>', 'the time zone in which times are read and printed (default: the system’s)')
    .option('--json', 'print JSON')
    .option('--trust-clock', 'accept the wall clock, however far it is from the last time in the store')
}

/** The commands that need the store itself and cannot use a server. */
const STORE_ONLY = /^(?:serve|keys|calendar|export|import|backup|migrate|doctor|bench)\b/
const SERVED_ZONE = new Option(
  '--timezone <zone>',
  'default zone of calls (default: UTC), and zone of printed times (default: the system’s)',
)

/** The global options in the help of a command, without those that it refuses. */
export function globalsOf(command: Command): Option[] {
  const name = commandName(command)
  const all = Object.assign(new Help(), { showGlobalOptions: true }).visibleGlobalOptions(command)
  const allowed = STORE_ONLY.test(name) ? all.filter(({ long }) => long !== '--url') : all
  if (name !== 'serve') return allowed
  return allowed.map((each) => (each.long === '--timezone' ? SERVED_ZONE : each))
}

/** Where the alarms are: in a store or on a server. */
export type Location =
  | { readonly kind: 'store'; readonly url: string }
  | { readonly kind: 'server'; readonly url: string; readonly key?: string }

/** The store or server to use: that of an option, else WAKEFUL_URL, else WAKEFUL_DB, else the default store. */
export function locationOf(globals: Globals, env: Terminal['env']): Location {
  const db = nonEmpty('db', globals.db)
  const server = nonEmpty('url', globals.url)
  if (db !== null && server !== null) throw new WakefulError('cli.store_and_server', {}, { field: 'db' })
  const url = server ?? (db === null ? filled(env.WAKEFUL_URL) : null)
  if (url === null) return { kind: 'store', url: normalizeUrl(db ?? filled(env.WAKEFUL_DB) ?? STORE_DEFAULT) }
  // Only from the environment: anyone on the machine can list the arguments of a process.
  return { kind: 'server', url, ...withoutUndefined({ key: filled(env.WAKEFUL_KEY)?.trim() }) }
}

/** The store, for a command that cannot use a server. */
export function storeUrl(globals: Globals, env: Terminal['env'], command: string): string {
  const place = locationOf(globals, env)
  if (place.kind === 'store') return place.url
  throw new WakefulError('cli.store_only', {
    command,
    from: globals.url === undefined ? 'WAKEFUL_URL' : '--url',
  })
}

/** The zone in which times are read and printed: `--timezone`, else that of the system. */
export function zoneOf(globals: Globals): string {
  return assertTimezone(globals.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone)
}

/** How phrases are read on a store, from the environment. */
export function phrasesOf(env: Terminal['env']): PhraseSettings {
  return phraseSettings({
    phraseClock: settingOf('phraseClock', env),
    phraseTimes: settingOf('phraseTimes', env),
  })
}

/** The URL of a store. A bare path is a SQLite file; one letter before a colon is a Windows drive, not a scheme. */
export function normalizeUrl(url: string): string {
  if (url === ':memory:') return 'sqlite::memory:'
  return /^[a-z][a-z0-9+.-]+:/i.test(url) ? url : `sqlite:${url}`
}

/** Whether the store lives in memory only. */
export function isInMemory(url: string): boolean {
  return /^sqlite::memory:/i.test(url)
}

/** `--tenant` and `--owner`, if set. */
export function scopeOf({ tenant, owner }: Globals): { tenant?: string; owner?: string } {
  nonEmpty('tenant', tenant)
  return withoutUndefined({ tenant, owner })
}

function nonEmpty(field: string, text: string | undefined): string | null {
  if (text === undefined) return null
  if (text.trim() !== '') return text
  throw new WakefulError('field.empty', {}, { field })
}
