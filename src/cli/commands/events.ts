import type { Command } from 'commander'
import type { EventsOptions, EventView } from '../../index.ts'
import { eventWire, withoutUndefined } from '../../library/index.ts'
import { addCommand, wholeNumber } from '../arguments/index.ts'
import { idOf, type Session, withSession } from '../session/index.ts'
import { type CliContext, notFound, Stop } from '../terminal/index.ts'
import { cut, localTime, oneLine, textWidth } from '../text/index.ts'

/** The longest type, so that the next column is aligned. */
const TYPE_WIDTH = 'timer.due_time_reached'.length

interface EventFlags {
  readonly follow?: boolean
  readonly after?: string
  readonly alarm?: string
  readonly key?: string
  readonly limit?: number
}

/** `events`: prints the log from a cursor on, and follows it with `--follow`. */
export function addEvents(program: Command, cli: CliContext): void {
  addCommand(program, 'events', 'print the log of events', [
    'events --follow',
    'events --alarm 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'events --after "$CURSOR" --json | jq -r .type',
  ])
    .option('-f, --follow', 'follow new events, until Ctrl-C')
    .option('--after <cursor>', 'start after this cursor (`newest`: only new events)')
    .option('--alarm <id>', 'only events of this alarm')
    .option('--key <key>', 'only events of the alarm with this key')
    .option('--limit <n>', 'stop after this many events', wholeNumber(1))
    .action(async (flags: EventFlags, self: Command) => {
      await withSession(cli, self, flags.follow === true ? 'any' : 'existing', (session) =>
        print(session, flags, cli),
      )
    })
}

async function print({ alarms, out, zone }: Session, flags: EventFlags, cli: CliContext): Promise<void> {
  // An alarm is deleted with its events, so an unknown alarm has nothing to read or to wait for.
  const named = flags.alarm ?? flags.key
  const alarmId = named === undefined ? undefined : await idOf(alarms, flags.alarm, flags)
  if (alarmId !== undefined && (await alarms.get(alarmId)) === null) throw notFound(named!)
  const stop = new Stop(cli.terminal)
  const { follow, after } = flags
  const options: EventsOptions = { signal: stop.signal, ...withoutUndefined({ follow, after, alarmId }) }
  let left = flags.limit ?? Number.POSITIVE_INFINITY
  try {
    for await (const event of alarms.events(options)) {
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
  const rest = `${oneLine(event.alarmId ?? event.subject ?? '')}  ${factsOf(event)}`.trimEnd()
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
