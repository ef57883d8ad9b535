import { type Command, Option } from 'commander'
import { parseDuration, type When, type WhenObject } from '../time/index.ts'
import { joined, wholeNumber } from './command.ts'
import { badUsage } from './failure.ts'

/** The options that say when, beside or instead of the words. */
export interface WhenFlags {
  readonly cron?: string
  readonly every?: string
  readonly unix?: string
  readonly delay?: string
  readonly start?: string
  readonly end?: string
  readonly count?: number
  readonly misfire?: 'once' | 'skip'
}

/** Adds the options that say when. */
export function addWhenOptions(command: Command): Command {
  return command
    .option('--cron <expression>', 'recurring: 5 or 6 fields, @daily, @every 5m')
    .option('--every <duration>', 'recurring: every 90s, 5m, 1h30m, PT1H')
    .option('--unix <seconds>', 'once: seconds since 1970')
    .option('--delay <duration>', 'once: so long from now')
    .option('--start <time>', 'recurring: no instant before')
    .option('--end <time>', 'recurring: no instant after')
    .option('--count <n>', 'recurring: how often in all', wholeNumber(1))
    .addOption(
      new Option('--misfire <policy>', 'what was missed: fire once, or skip').choices(['once', 'skip']),
    )
}

/** The when that words and options together say: exactly one of them names it. */
export function readWhen(words: readonly string[], flags: WhenFlags): When {
  const text = joined(words)
  const kinds = {
    at: text === '' ? undefined : text,
    ...pick(flags, ['cron', 'every', 'delay']),
    unix: seconds(flags.unix),
  }
  const given = Object.entries(kinds).filter(([, value]) => value !== undefined)
  if (given.length !== 1) {
    const found = given.map(([name]) => (name === 'at' ? `'${text}'` : `--${name}`)).join(' and ')
    const forms = "WHEN (such as 'tomorrow at 9am'), --cron, --every, --unix or --delay"
    throw badUsage(found === '' ? `say when: ${forms}` : `say when in one way, not by ${found}: ${forms}`)
  }
  const hint = hintFor(text)
  if (hint !== null) throw badUsage(`'${text}' is not a time in words: ${hint}`)
  const bounds = pick(flags, ['start', 'end', 'count', 'misfire'])
  if (given[0]![0] === 'at' && Object.values(bounds).every((value) => value === undefined)) return text
  return Object.fromEntries(
    Object.entries({ ...kinds, ...bounds }).filter(([, value]) => value !== undefined),
  ) as WhenObject
}

/**
 * A moment to list from: an ISO time or words, bare seconds since 1970 as seed 001 takes them, or a duration, which
 * can only mean so long ago.
 */
export function readSince(text: string, now: number): When {
  if (/^\d+$/.test(text.trim())) return { unix: Number(text) }
  try {
    return new Date(now - parseDuration(text))
  } catch {
    return text
  }
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
