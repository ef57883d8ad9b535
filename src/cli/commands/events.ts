import type { Command } from 'commander'
import { ORIGINS, type Origin } from '../../alarm/index.ts'
import type { EventsOptions, EventView } from '../../index.ts'
import { eventWire, withoutUndefined } from '../../library/index.ts'
import { addCommand, choice, wholeNumber } from '../arguments/index.ts'
import {
  type AcrossFlags,
  addAcrossOptions,
  idOf,
  readsOf,
  type Session,
  withSession,
} from '../session/index.ts'
import { type CliContext, notFound, Stop } from '../terminal/index.ts'
import { cut, localTime, oneLine, textWidth } from '../text/index.ts'

/** The longest type, so that the next column is aligned. */
const TYPE_WIDTH = 'timer.due_time_reached'.length

interface EventFlags extends AcrossFlags {
  readonly follow?: boolean
  readonly after?: string
  readonly alarm?: string
  readonly key?: string
  readonly type?: readonly string[]
  readonly origin?: Origin
  readonly subject?: string
  readonly correlation?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: number
}

/** `events`: prints the log from a cursor on, and follows it with `--follow`. */
export function addEvents(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'events', 'print the log of events', [
    'events --follow',
    'events --type alarm.failed --type alarm.timed_out --since 1d',
    'events --all-tenants --follow --type alarm.failed',
    'events --alarm 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'events --after "$CURSOR" --json | jq -r .type',
  ])
    .option('-f, --follow', 'follow new events, until Ctrl-C')
    .option('--after <cursor>', 'start after this cursor (`newest`: only new events)')
    .option('--alarm <id>', 'only events of this alarm')
    .option('--key <key>', 'only events of the alarm with this key')
    .option(
      '--type <type...>',
      'only events of these types (`alarm.failed`, `alarm.*`), with commas or spaces between them',
    )
    .addOption(choice('--origin <origin>', 'only events of this origin', ORIGINS))
    .option('--subject <subject>', 'only events about this subject')
    .option('--correlation <id>', 'only events with this correlation id')
    .option('--since <time>', 'only events since then (`2h`: two hours ago)')
    .option('--until <time>', 'only events before then; not with --follow')
    .option('--limit <n>', 'stop after this many events', wholeNumber(1))
  addAcrossOptions(command).action(async (flags: EventFlags, self: Command) => {
    await withSession(cli, self, flags.follow === true ? 'any' : 'existing', (session) =>
      print(session, flags, cli),
    )
  })
}

async function print(session: Session, flags: EventFlags, cli: CliContext): Promise<void> {
  const { alarms, out, zone } = session
  // An alarm is deleted with its events, so an unknown alarm has nothing to read or to wait for.
  const named = flags.alarm ?? flags.key
  const reads = readsOf(session, flags)
  const alarmId = named === undefined ? undefined : await idOf(alarms, flags.alarm, flags, reads)
  if (alarmId !== undefined && (await reads.get(alarmId)) === null) throw notFound(named!)
  const stop = new Stop(cli.terminal)
  const { follow, after, type, origin, subject, correlation: correlationId, since, until } = flags
  const filters = { type, origin, subject, correlationId, since, until }
  const options: EventsOptions = {
    signal: stop.signal,
    ...withoutUndefined({ follow, after, alarmId, ...filters }),
  }
  let left = flags.limit ?? Number.POSITIVE_INFINITY
  try {
    for await (const event of reads.events(options)) {
      out.line(out.json ? eventWire(event) : eventText(event, zone, out.width))
      if (--left === 0 || stop.signal.aborted) break
    }
  } catch (thrown) {
    // Ctrl-C ends --follow.
    if (!stop.signal.aborted) throw thrown
  } finally {
    stop.unlisten()
  }
}

/** One event: time, type, alarm and data, on two lines if the terminal is too narrow for one. */
function eventText(event: EventView, zone: string, width: number | null): string {
  const head = `${localTime(event.at, zone)}  ${event.type.padEnd(TYPE_WIDTH)}`
  const whose = event.owner === undefined ? '' : `${oneLine(`${event.tenant}/${event.owner}`)}  `
  const rest = `${whose}${oneLine(event.alarmId ?? event.subject ?? '')}  ${factsOf(event)}`.trimEnd()
  if (width === null || textWidth(head) + 2 + textWidth(rest) <= width) return `${head}  ${rest}`
  return `${head.trimEnd()}\n  ${cut(rest, width - 2)}`
}

/** Data that repeats the time of the event. */
const REPEATED: ReadonlySet<string> = new Set(['scheduled_for', 'fired_at'])

function factsOf({ data }: EventView): string {
  return Object.entries(data)
    .filter(([name]) => !REPEATED.has(name))
    .map(([name, value]) => `${name}=${oneLine(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join(' ')
}
