import { type Command, Option } from 'commander'
import type { SetOptions, TargetSpec } from '../alarm/index.ts'
import { parseDuration } from '../time/index.ts'
import { wholeNumber } from './command.ts'
import { badUsage } from './failure.ts'

/** The options of `set` beside those that say when. */
export interface SetFlags
  extends Pick<
    SetOptions,
    | 'label'
    | 'message'
    | 'conversationId'
    | 'key'
    | 'idempotencyKey'
    | 'subject'
    | 'correlationId'
    | 'maxFailures'
    | 'timeout'
    | 'ack'
    | 'completionTimeout'
    | 'overlap'
    | 'priority'
    | 'createdBy'
  > {
  readonly target?: string
  readonly pool?: string
  readonly event?: boolean
  readonly payload?: string
  readonly backoffBase?: string
  readonly backoffCap?: string
  readonly onFailure?: string
}

/** Where an alarm goes that names no target: `serve` prints it. */
export const PRINT_TARGET = { handler: 'print', pool: 'cli' } as const

const PASSED_ON = [
  'label',
  'message',
  'conversationId',
  'key',
  'idempotencyKey',
  'subject',
  'correlationId',
  'maxFailures',
  'timeout',
  'ack',
  'completionTimeout',
  'overlap',
  'priority',
  'createdBy',
] as const satisfies readonly (keyof SetFlags)[]

/** Adds the options of `set` beside those that say when. */
export function addSetOptions(command: Command): Command {
  return command
    .option(
      '--target <name>',
      'a handler’s name, a URL, inbox, or a target as JSON (default: `serve` prints it)',
    )
    .option('--pool <name>', 'the pool that runs the handler (default: app)')
    .option('--event', 'the target is the event log')
    .option('--payload <json>', 'JSON, kept digit for digit; @FILE reads a file, - reads stdin')
    .option('-m, --message <text>', 'what to say when it fires')
    .option('--label <text>', 'a name for people')
    .option('--key <key>', 'names the alarm: setting the same key again reschedules it')
    .option('--idempotency-key <key>', 'setting it again changes nothing')
    .option('--subject <name>', 'the entity it is for')
    .option('--correlation-id <id>', 'ties it to a request or process')
    .option('--conversation-id <id>', 'the conversation to wake in')
    .option('--max-failures <n>', 'attempts before it is failed (default 5)', wholeNumber(1))
    .option('--backoff-base <duration>', 'wait before the first retry, then doubling (default 5s)')
    .option('--backoff-cap <duration>', 'longest wait between retries (default 1h)')
    .option('--timeout <duration>', 'how long one attempt may take')
    .addOption(
      new Option('--ack <when>', 'done on delivery, or when reported').choices(['delivery', 'report']),
    )
    .option('--completion-timeout <duration>', 'how long a report is awaited (default 5m)')
    .addOption(
      new Option('--overlap <policy>', 'while the one before is open').choices(['skip', 'queue', 'allow']),
    )
    .option('--priority <n>', 'higher first among what is due, -100 to 100', wholeNumber(-100, 100))
    .option('--on-failure <target>', 'where it goes when its attempts are used up')
    .option('--created-by <name>', 'who sets it')
}

/** The options of the library's `set` that the flags say, all but the payload. */
export function readSetFlags(flags: SetFlags): SetOptions {
  const passed = PASSED_ON.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]])
  const baseMs = milliseconds('--backoff-base', flags.backoffBase)
  const capMs = milliseconds('--backoff-cap', flags.backoffCap)
  return {
    ...(Object.fromEntries(passed) as SetOptions),
    target: readTarget(flags),
    ...(flags.onFailure !== undefined && { onFailure: readTargetText(flags.onFailure, flags.pool) }),
    ...((baseMs ?? capMs) !== undefined && {
      backoff: { ...(baseMs !== undefined && { baseMs }), ...(capMs !== undefined && { capMs }) },
    }),
  }
}

function readTarget(flags: SetFlags): TargetSpec {
  if (flags.event === true) {
    if (flags.target === undefined && flags.pool === undefined) return { event: true }
    throw badUsage('--event is the target already: leave --target and --pool out')
  }
  if (flags.target !== undefined) return readTargetText(flags.target, flags.pool)
  if (flags.pool === undefined) return PRINT_TARGET
  throw badUsage('--pool says who runs a handler: name it with --target')
}

function readTargetText(text: string, pool: string | undefined): TargetSpec {
  if (text.trim() === '') throw badUsage('the target is empty: name a handler, or leave it out')
  if (/^https?:\/\//i.test(text)) return { webhook: text }
  if (!text.trimStart().startsWith('{')) return pool === undefined ? text : { handler: text, pool }
  try {
    return JSON.parse(text) as TargetSpec
  } catch (cause) {
    throw badUsage(`the target '${text}' is not JSON: ${(cause as Error).message}`)
  }
}

function milliseconds(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  try {
    return parseDuration(text)
  } catch (cause) {
    throw badUsage(`${flag}: ${(cause as Error).message}`)
  }
}
