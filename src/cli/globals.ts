import type { Command } from 'commander'
import { assertTimezone } from '../time/index.ts'
import { badUsage } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { systemZone } from './time-text.ts'

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
    .option('--url <url>', 'a Wakeful server (comes with a later version)')
    .option('--tenant <name>', 'work as this tenant')
    .option('--owner <name>', 'work as this owner')
    .option('--timezone <zone>', 'read and show times in this zone (default: the system’s)')
    .option('--json', 'print JSON')
    .option('--trust-clock', 'believe the wall clock, however far from what the store last saw')
}

/** The store to work on: `--db`, else WAKEFUL_DB, else a file in this directory. */
export function storeUrl(globals: Globals, env: Terminal['env']): string {
  const given = filled(globals.db)
  if (globals.db !== undefined && given === null)
    throw badUsage('--db is empty: give a file, or leave it out')
  const server = filled(globals.url) ?? (given === null ? filled(env.WAKEFUL_URL) : null)
  if (server !== null) {
    const named = globals.url === undefined ? 'WAKEFUL_URL is set, but working' : 'Working'
    throw badUsage(
      `${named} through a server (--url) comes with a later version; this one works on the store directly: --db FILE`,
    )
  }
  return normalizeUrl(given ?? filled(env.WAKEFUL_DB) ?? STORE_DEFAULT)
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

function filled(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text
}
