import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import type { CalendarView } from '../../index.ts'
import { wireText, withoutUndefined } from '../../library/index.ts'
import { type CalendarInput, closest } from '../../time/index.ts'
import { addCommand } from '../arguments/index.ts'
import { alarmsAction, type LocalOrRemoteAlarms, withSession } from '../session/index.ts'
import { type CliContext, withFile } from '../terminal/index.ts'
import { card, counted, oneLine, wrap } from '../text/index.ts'

const WEEKDAYS = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

interface PutFlags {
  readonly ics?: string
  readonly weekend?: string[]
  readonly label?: string
  readonly empty?: boolean
}

/** `calendar put|add|get|list|remove`: days off, which alarms can exclude. */
export function addCalendars(program: Command, cli: CliContext): void {
  const calendar = addCommand(program, 'calendar', 'manage calendars of days off', [
    'calendar put company 2026-12-24..2026-12-31',
    'calendar put us-holidays --ics us.ics',
    "set 'every weekday at 9am except us-holidays'",
  ])
  addWriting(calendar, cli, 'put', 'create a calendar, or replace its days', [
    'calendar put company 2026-12-24..2026-12-31 2027-01-06',
    'calendar put us-holidays --ics us.ics',
    'calendar put gulf --weekend fri,sat',
  ]).option('--empty', 'remove all days of the calendar, and keep the calendar')
  addWriting(calendar, cli, 'add', 'add days to a calendar, or create it', [
    "calendar add company 2027-05-14 --label 'bridge day'",
  ])
  addCommand(calendar, 'list', 'list the calendars', ['calendar list']).action(
    alarmsAction(cli, 'existing', async ({ alarms, out }) => {
      const items = await alarms.calendars.list()
      if (!out.json && items.length === 0) return out.note('no calendars')
      out.print(wireText({ items }), () => items.map(summary))
    }),
  )
  addCommand(calendar, 'get <name>', 'show a calendar with its days', ['calendar get us-holidays']).action(
    alarmsAction(cli, 'existing', async ({ alarms, out }, name: string) => {
      const found = await alarms.calendars.get(name)
      if (found === null) throw await noCalendar(name, alarms)
      out.print(wireText(found), () => details(found))
    }),
  )
  addCommand(calendar, 'remove <name>', 'delete a calendar; fails while a pending alarm uses it', [
    'calendar remove company',
  ]).action(
    alarmsAction(cli, 'existing', async ({ alarms, out }, name: string) => {
      if (!(await alarms.calendars.remove(name))) throw await noCalendar(name, alarms)
      out.print(wireText({ name, removed: true }), () => [`${name} removed`])
    }),
  )
}

/** `put` and `add`, which have the same arguments. */
function addWriting(
  calendar: Command,
  cli: CliContext,
  verb: 'put' | 'add',
  summaryText: string,
  examples: readonly string[],
): Command {
  return addCommand(calendar, `${verb} <name> [dates...]`, summaryText, examples)
    .option('--ics <file>', 'days from the all-day events of an .ics file (- reads stdin)')
    .option('--weekend <days>', 'weekdays that are off, such as fri,sat', (days) =>
      days.split(',').map((day) => day.trim()),
    )
    .option('--label <text>', 'the label of the dates')
    .action(async (name: string, dates: string[], flags: PutFlags, self: Command) => {
      const input = await readInput(cli, dates, flags)
      await withSession(cli, self, 'any', async ({ alarms, out }) => {
        const put = await alarms.calendars[verb](name, input)
        const notes =
          put.moved > 0 ? [...put.notes, `${counted(put.moved, 'pending alarm')} moved`] : put.notes
        out.print(wireText(put), () => [
          summary(put),
          ...notes.map((note) => wrap(`  ${oneLine(note)}`, out.width, '  ')),
        ])
      })
    })
}

async function readInput(cli: CliContext, dates: readonly string[], flags: PutFlags): Promise<CalendarInput> {
  const { ics: file, weekend, label, empty = false } = flags
  const hasDays = dates.length > 0 || file !== undefined || weekend !== undefined
  if (empty && hasDays) throw new WakefulError('cli.calendar_empty', {}, { field: 'empty' })
  if (!hasDays && !empty) throw new WakefulError('cli.calendar_days', {})
  const read = async (path: string) =>
    path === '-' ? text(cli.terminal.stdin) : withFile(path, () => readFile(path, 'utf8'))
  const ics = file === undefined ? undefined : await read(file)
  const named = label === undefined ? dates : Object.fromEntries(dates.map((date) => [date, label]))
  return withoutUndefined({ dates: dates.length > 0 || empty ? named : undefined, ics, weekend })
}

function summary({ name, dates, weekend }: CalendarView): string {
  const days = Object.keys(dates).sort()
  const weekly = weekend.length === 0 ? [] : [`every ${weekend.map((day) => WEEKDAYS[day]).join(', ')}`]
  const span = days.length === 1 ? days[0] : `${days[0]} to ${days.at(-1)}`
  const dated = days.length === 0 ? [] : [`${counted(days.length, 'day')}, ${span}`]
  return `${name}: ${[...dated, ...weekly].join(', ') || 'no days off'}`
}

function details(calendar: CalendarView): string[] {
  const days = Object.entries(calendar.dates).sort(([a], [b]) => (a < b ? -1 : 1))
  return [summary(calendar), ...card(days.map(([date, label]) => [date, oneLine(label) || '(no name)']))]
}

async function noCalendar(name: string, { calendars }: LocalOrRemoteAlarms): Promise<WakefulError> {
  const names = (await calendars.list()).map((each) => each.name)
  const near = closest(name, names)
  return new WakefulError('calendar.not_found', { name: JSON.stringify(name.slice(0, 100)), near })
}
