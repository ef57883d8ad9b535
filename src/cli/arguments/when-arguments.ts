import { type Command, Option } from 'commander'
import { resolveSince, splitDayNames, type When, type WhenObject } from '../../time/index.ts'
import { badUsage } from '../terminal/index.ts'
import { joined, wholeNumber } from './command.ts'

/** The options that say when, beside or instead of the words. */
export interface WhenFlags {
  readonly cron?: string
  readonly every?: string
  readonly unix?: string
  readonly delay?: string
  readonly start?: string
  readonly end?: string
  readonly count?: number
  readonly rrule?: string
  readonly jitter?: string
  readonly misfire?: 'once' | 'skip' | 'all'
  readonly misfireMax?: number
  readonly misfireWithin?: string
  readonly dstGap?: 'shift' | 'skip'
  readonly dstOverlap?: 'first' | 'last' | 'both'
  readonly exclude?: string[]
  readonly move?: 'next' | 'previous'
  readonly offset?: number
}

/** Adds the options that say when. */
export function addWhenOptions(command: Command): Command {
  return command
    .option('--cron <expression>', 'recurring: 5 or 6 fields, @daily, @every 5m')
    .option('--every <duration>', 'recurring: every 90s, 5m, 1h30m, PT1H, 1 month (1mo)')
    .option('--rrule <rule>', 'recurring: RFC 5545, such as FREQ=WEEKLY;BYDAY=MO')
    .option('--unix <seconds>', 'once: seconds since 1970')
    .option('--delay <duration>', 'once: so long from now')
    .option('--start <time>', 'recurring: no instant before a time, a date, next monday')
    .option('--end <time>', 'recurring: no instant after; of a date, its end')
    .option('--count <n>', 'recurring: how often in all', wholeNumber(1))
    .addOption(
      new Option('--misfire <policy>', 'what was missed: fire the newest, none, all').choices([
        'once',
        'skip',
        'all',
      ]),
    )
    .option('--misfire-max <n>', 'with --misfire all: at most so many', wholeNumber(1))
    .option('--misfire-within <duration>', 'with --misfire all: none older')
    .option('--jitter <duration>', 'recurring: each up to so much later')
    .addOption(
      new Option('--dst-gap <policy>', 'a time the clock skips: shifted, or left out').choices([
        'shift',
        'skip',
      ]),
    )
    .addOption(
      new Option('--dst-overlap <policy>', 'a time that comes twice').choices(['first', 'last', 'both']),
    )
    .option(
      '--exclude <names>',
      'not on days off: calendars by name, fri,sat, weekends; comma-separated or repeated (none: no days off)',
      named,
    )
    .addOption(
      new Option('--move <where>', 'with --exclude: to the working day after or before').choices([
        'next',
        'previous',
      ]),
    )
    .option('--offset <n>', 'with --move: so many working days further', wholeNumber(-250, 250))
}

/** Names, separated by commas or given one option each; 'none' names nothing, and drops what there was. */
function named(text: string, before: string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim())
  return [...before, ...names.filter((name) => name !== '' && name !== 'none')]
}

/** Whether a when may name calendars, which are in the store. */
export function namesCalendars(words: readonly string[], flags: WhenFlags): boolean {
  return flags.exclude !== undefined || /\b(?:except|excluding)\b/i.test(joined(words))
}

/**
 * The when that words and options together say: exactly one of them names it. For an alarm that has a rule already, the
 * options alone may be enough.
 */
export function readWhen(words: readonly string[], flags: WhenFlags, hasRule = false): When {
  const text = joined(words)
  const kinds = {
    at: text === '' ? undefined : text,
    ...pick(flags, ['cron', 'every', 'rrule', 'delay']),
    unix: seconds(flags.unix),
  }
  const given = Object.entries(kinds).filter(([, value]) => value !== undefined)
  const bounds = {
    ...pick(flags, ['start', 'end', 'count', 'jitter']),
    misfire: misfireOf(flags),
    dst: dstOf(flags),
    exclude: excludeOf(flags),
  }
  const isBare = Object.values(bounds).every((value) => value === undefined)
  if (given.length !== 1 && !(given.length === 0 && hasRule && !isBare)) {
    const found = given.map(([name]) => (name === 'at' ? `'${text}'` : `--${name}`)).join(' and ')
    const forms = "WHEN (such as 'tomorrow at 9am'), --cron, --every, --rrule, --unix or --delay"
    throw badUsage(found === '' ? `say when: ${forms}` : `say when in one way, not by ${found}: ${forms}`)
  }
  const hint = hintFor(text)
  if (hint !== null) throw badUsage(`'${text}' is not a time in words: ${hint}`)
  if (given[0]?.[0] === 'at' && isBare) return text
  return Object.fromEntries(
    Object.entries({ ...kinds, ...bounds }).filter(([, value]) => value !== undefined),
  ) as WhenObject
}

function misfireOf({ misfire, misfireMax: max, misfireWithin: within }: WhenFlags): WhenObject['misfire'] {
  if (max === undefined && within === undefined) return misfire
  if (misfire !== 'all') throw badUsage('--misfire-max and --misfire-within belong to --misfire all')
  return { all: { ...(max !== undefined && { max }), ...(within !== undefined && { within }) } }
}

function dstOf({ dstGap: gap, dstOverlap: overlap }: WhenFlags): WhenObject['dst'] {
  if (gap === undefined && overlap === undefined) return undefined
  return { ...(gap !== undefined && { gap }), ...(overlap !== undefined && { overlap }) }
}

function excludeOf({ exclude, move, offset }: WhenFlags): WhenObject['exclude'] {
  if (exclude === undefined && (move !== undefined || offset !== undefined))
    throw badUsage('--move and --offset belong to --exclude: name the days off, such as --exclude weekends')
  if (exclude === undefined || move === undefined) {
    if (offset !== undefined) throw badUsage('--offset belongs to --move next or --move previous')
    return exclude
  }
  const { calendars, weekdays } = splitDayNames(exclude)
  return {
    ...(calendars.length > 0 && { calendars }),
    ...(weekdays.length > 0 && { weekend: weekdays }),
    move,
    ...(offset !== undefined && { offset }),
  }
}

/** A moment to list from. Read here, by the reader's clock and zone, wherever the alarms are. */
export function readSince(text: string, view: { readonly now: () => number; readonly zone: string }): Date {
  return new Date(resolveSince(text, { now: view.now(), timezone: view.zone }))
}

/** What is no time in words, but clearly meant as one of the options. */
function hintFor(text: string): string | null {
  if (/^\d{9,}(?:\.\d+)?$/.test(text)) return `is it seconds since 1970? Then say --unix ${text}`
  if (/^@[a-z]|^(?:[\d*][\w*/,#-]* +){4,5}[\w*/,#-]+$/i.test(text))
    return `is it cron? Then say --cron '${text}'`
  return null
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(?:\.\d+)?$/.test(text.trim())) return Number(text)
  throw badUsage(`--unix '${text}' is not a number of seconds since 1970`)
}

function pick<Flags, Name extends keyof Flags>(flags: Flags, names: readonly Name[]): Pick<Flags, Name> {
  return Object.fromEntries(names.map((name) => [name, flags[name]])) as Pick<Flags, Name>
}
