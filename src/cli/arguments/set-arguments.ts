import { type Command, Option } from 'commander'
import {
  ALARM_FIELDS,
  defaultText,
  type Field,
  type NetworkOption,
  networkOptions,
  type SetOptions,
  type TargetSpec,
} from '../../alarm/index.ts'
import { flagOf } from '../../config/index.ts'
import { display, errorText, WakefulError } from '../../error.ts'
import { withoutUndefined } from '../../library/index.ts'
import { parseDuration } from '../../time/index.ts'
import { wholeNumber } from './command.ts'

/** The fields of an alarm that are one flag with one value. */
type FlagName = {
  [K in NetworkOption]: Required<SetOptions>[K] extends string | number ? K : never
}[NetworkOption]

/** The options of `set` except those of the time. */
export interface SetFlags extends Pick<SetOptions, FlagName> {
  readonly target?: string
  readonly pool?: string
  readonly event?: boolean
  readonly payload?: string
  readonly backoffBase?: string
  readonly backoffCap?: string
  readonly onFailure?: string
}

/** The default target: `serve` prints the alarm. */
export const PRINT_TARGET = { handler: 'print', pool: 'cli' } as const

const FLAG_NAMES = networkOptions('set').filter((name): name is FlagName =>
  ['text', 'choice', 'integer', 'duration'].includes(ALARM_FIELDS[name].type),
)

/** Adds the options of `set` except those of the time. */
export function addSetOptions(command: Command): Command {
  command
    .option(
      '--target <name>',
      'the name of a handler, a URL, inbox, or a target as JSON (default: `serve` prints it)',
    )
    .option('--pool <name>', 'the pool that runs the handler (default: app)')
    .option('--event', 'write an event to the log instead of calling a target')
    .option('--payload <json>', 'JSON, stored byte for byte; @FILE reads a file, - reads stdin')
  for (const name of FLAG_NAMES) command.addOption(optionOf(name))
  return command
    .option(
      '--backoff-base <duration>',
      'delay of the first retry, doubled for each further one (default 5s)',
    )
    .option('--backoff-cap <duration>', 'longest delay between retries (default 1h)')
    .option('--on-failure <target>', 'the target that is called when the last attempt has failed')
}

function optionOf(name: FlagName): Option {
  const field: Field = ALARM_FIELDS[name]
  const standard = defaultText(field)
  const text = `${clauses(field.doc)}${standard === null ? '' : ` (default ${standard})`}`
  const flag = `${name === 'message' ? '-m, ' : ''}${flagOf(name)}`
  if (field.type === 'choice') return new Option(`${flag} <${name}>`, text).choices(field.values)
  if (field.type !== 'integer')
    return new Option(`${flag} <${field.type === 'duration' ? 'duration' : 'text'}>`, text)
  return new Option(`${flag} <n>`, text).argParser(wholeNumber(field.min!, field.max))
}

/** Sentences in the style of help texts: in lower case, without a full stop. */
export function clauses(doc: string): string {
  const sentences = doc.replaceAll('`', '').replace(/\.$/, '').split('. ')
  return sentences.map((sentence) => sentence[0]!.toLowerCase() + sentence.slice(1)).join('; ')
}

/** The flags as options of the library's `set`, without the payload. */
export function readSetFlags(flags: SetFlags): SetOptions {
  const fields: SetOptions = Object.fromEntries(FLAG_NAMES.map((name) => [name, flags[name]]))
  const backoff = withoutUndefined({
    baseMs: milliseconds('backoff.baseMs', flags.backoffBase),
    capMs: milliseconds('backoff.capMs', flags.backoffCap),
  })
  return withoutUndefined({
    ...fields,
    target: readTarget(flags),
    onFailure:
      flags.onFailure === undefined ? undefined : readTargetText('onFailure', flags.onFailure, flags.pool),
    backoff: Object.keys(backoff).length === 0 ? undefined : backoff,
  })
}

function readTarget(flags: SetFlags): TargetSpec {
  if (flags.event === true) {
    if (flags.target === undefined && flags.pool === undefined) return { event: true }
    const other = flags.target === undefined ? 'pool' : 'target'
    throw new WakefulError('field.both', { other }, { field: 'event' })
  }
  if (flags.target !== undefined) return readTargetText('target', flags.target, flags.pool)
  if (flags.pool === undefined) return PRINT_TARGET
  throw new WakefulError('field.needs', { other: 'target' }, { field: 'pool' })
}

function readTargetText(field: 'target' | 'onFailure', text: string, pool: string | undefined): TargetSpec {
  if (text.trim() === '') throw new WakefulError('field.empty', {}, { field })
  if (/^https?:\/\//i.test(text)) return { webhook: text }
  if (!text.trimStart().startsWith('{')) return pool === undefined ? text : { handler: text, pool }
  try {
    return JSON.parse(text) as TargetSpec
  } catch (cause) {
    const params = { value: display(text), cause: errorText(cause) }
    throw new WakefulError('cli.target_not_json', params, { field, cause })
  }
}

function milliseconds(field: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseDuration(text, field)
}
