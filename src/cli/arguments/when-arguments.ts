import type { Command } from 'commander'
import { display, WakefulError } from '../../error.ts'
import { withoutUndefined } from '../../library/index.ts'
import { resolveSince, splitDayNames, type When, type WhenObject } from '../../time/index.ts'
import { choice, joined, wholeNumber } from './command.ts'

/** Texts that are clearly meant for one of the options. */
const SECONDS = /^\d{9,}(?:\.\d+)?$/
const CRON = /^@[a-z]|^(?:[\d*][\w*/,#-]* +){4,5}[\w*/,#-]+$/i
const KINDS = ['at', 'cron', 'every', 'rrule', 'unix', 'delay']
const MISFIRES = ['once', 'skip', 'all'] as const
const GAPS = ['shift', 'skip'] as const
const OVERLAPS = ['first', 'last', 'both'] as const
const MOVES = ['next', 'previous'] as const

type SameAsInWhen = 'cron' | 'every' | 'rrule' | 'delay' | 'start' | 'end' | 'count' | 'jitter'

/** The options of a time. */
export interface WhenFlags extends Pick<WhenObject, SameAsInWhen> {
  readonly unix?: string
  readonly misfire?: (typeof MISFIRES)[number]
  readonly misfireMax?: number
  readonly misfireWithin?: string
  readonly dstGap?: (typeof GAPS)[number]
  readonly dstOverlap?: (typeof OVERLAPS)[number]
  readonly exclude?: string[]
  readonly move?: (typeof MOVES)[number]
  readonly offset?: number
}

/** Adds the options of a time. */
export function addWhenOptions(command: Command): Command {
  return command
    .option('--cron <expression>', 'recurring: 5 or 6 fields, @daily, @every 5m')
    .option('--every <duration>', 'recurring: an interval such as 90s, 5m, 1h30m, PT1H, 1 month (1mo)')
    .option('--rrule <rule>', 'recurring: an RFC 5545 rule; name its BYHOUR, BYMINUTE, BYSECOND')
    .option('--unix <seconds>', 'once: seconds since 1970')
    .option('--delay <duration>', 'once: this long from now')
    .option('--start <time>', 'recurring: the earliest instant: a time, a date, next monday')
    .option('--end <time>', 'recurring: the latest instant; a date includes that day')
    .option('--count <n>', 'recurring: total number of occurrences', wholeNumber(1))
    .addOption(choice('--misfire <policy>', 'missed occurrences: fire the newest, none or all', MISFIRES))
    .option('--misfire-max <n>', 'with --misfire all: how many at most', wholeNumber(1))
    .option('--misfire-within <duration>', 'with --misfire all: how old at most')
    .option('--jitter <duration>', 'recurring: a random delay of each occurrence, up to this')
    .addOption(choice('--dst-gap <policy>', 'a local time that the clock skips: shift it, or skip it', GAPS))
    .addOption(choice('--dst-overlap <policy>', 'a local time that occurs twice: which of the two', OVERLAPS))
    .option(
      '--exclude <names>',
      'days off: names of calendars, weekdays (fri,sat), weekends; comma-separated or repeated (none: no days off)',
      readNames,
    )
    .addOption(choice('--move <where>', 'with --exclude: move to the working day after or before', MOVES))
    .option('--offset <n>', 'with --move: this many working days further', wholeNumber(-250, 250))
}

/** Names, separated by commas or one per option. 'none' means no names. */
function readNames(text: string, before: string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim())
  return [...before, ...names.filter((name) => name !== '' && name !== 'none')]
}

/** Whether a time may name calendars, which are in the store. */
export function namesCalendars(words: readonly string[], flags: WhenFlags): boolean {
  return flags.exclude !== undefined || /\b(?:except|excluding)\b/i.test(joined(words))
}

/**
 * The time of the arguments: exactly one of WHEN and the options names it. For an alarm that has a rule already, options
 * such as `--exclude` alone are enough.
 */
export function readWhen(words: readonly string[], flags: WhenFlags, hasRule = false): When {
  const text = joined(words)
  const { cron, every, rrule, delay, start, end, count, jitter } = flags
  const at = text === '' ? undefined : text
  const kinds = withoutUndefined({ at, cron, every, rrule, delay, unix: seconds(flags.unix) })
  const [misfire, dst, exclude] = [misfireOf(flags), dstOf(flags), excludeOf(flags)]
  const options = withoutUndefined({ start, end, count, jitter, misfire, dst, exclude })
  const used = Object.keys(kinds)
  const isBare = Object.keys(options).length === 0
  if (used.length !== 1 && !(used.length === 0 && hasRule && !isBare)) {
    throw used.length === 0
      ? new WakefulError('cli.time_missing', {})
      : new WakefulError('when.kinds', { fields: KINDS, others: used })
  }
  if (SECONDS.test(text)) throw new WakefulError('cli.seconds_as_text', { text })
  if (CRON.test(text)) throw new WakefulError('cli.cron_as_text', { text })
  return at !== undefined && isBare ? at : { ...kinds, ...options }
}

function misfireOf({ misfire, misfireMax: max, misfireWithin: within }: WhenFlags): WhenObject['misfire'] {
  if (max === undefined && within === undefined) return misfire
  const field = max === undefined ? 'misfire.within' : 'misfire.max'
  if (misfire !== 'all') throw new WakefulError('cli.misfire_needs_all', {}, { field })
  return { all: withoutUndefined({ max, within }) }
}

function dstOf({ dstGap: gap, dstOverlap: overlap }: WhenFlags): WhenObject['dst'] {
  if (gap === undefined && overlap === undefined) return undefined
  return withoutUndefined({ gap, overlap })
}

function excludeOf({ exclude, move, offset }: WhenFlags): WhenObject['exclude'] {
  const other = exclude === undefined ? 'exclude' : 'exclude.move'
  if (exclude === undefined && move !== undefined)
    throw new WakefulError('field.needs', { other }, { field: 'exclude.move' })
  if (move === undefined && offset !== undefined)
    throw new WakefulError('field.needs', { other }, { field: 'exclude.offset' })
  if (exclude === undefined || move === undefined) return exclude
  const { calendars, weekdays } = splitDayNames(exclude)
  return {
    ...(calendars.length > 0 && { calendars }),
    ...(weekdays.length > 0 && { weekend: weekdays }),
    move,
    ...(offset !== undefined && { offset }),
  }
}

/** The start of a list. It is read in the zone and by the clock of this machine, even if the alarms are on a server. */
export function readSince(text: string, view: { readonly now: () => number; readonly zone: string }): Date {
  return new Date(resolveSince(text, { now: view.now(), timezone: view.zone }))
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(?:\.\d+)?$/.test(text.trim())) return Number(text)
  const expected = 'a number of seconds since 1970'
  throw new WakefulError('field.invalid', { expected, value: display(text) }, { field: 'unix' })
}
