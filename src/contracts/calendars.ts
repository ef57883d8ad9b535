import { z } from 'zod'
import type { CalendarInput } from '../time/index.ts'
import { judged, name as nameField } from './fields.ts'
import { named, ok, operationsOf } from './operation.ts'

const calendarShape = {
  name: z.string(),
  dates: z.record(z.string(), z.string()).describe('The days off, each with its label.'),
  weekend: z.array(z.int()).describe('Weekdays that are off too; 1 is Monday.'),
}
const calendar = named('Calendar', calendarShape)
const written = named('WrittenCalendar', {
  ...calendarShape,
  moved: z.int().describe('How many pending alarms have moved.'),
  notes: z.array(z.string()).describe('Notes about surprising dates.'),
})

const params = z.object({ name: nameField('The name: lower-case letters, digits, `-` and `_`.') })

const body = z.strictObject({
  dates: judged<NonNullable<CalendarInput['dates']>>({
    anyOf: [
      { type: 'array', items: { type: 'string' } },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    description:
      'Dates (`2026-12-25`) and ranges (`2026-12-24..2026-12-31`), as a list, or with a label for each.',
    examples: [{ '2026-12-25': 'Christmas Day' }],
  }).optional(),
  ics: judged({
    type: 'string',
    description: 'The text of an .ics file: its all-day events are days off.',
  }).optional(),
  weekend: judged<NonNullable<CalendarInput['weekend']>>({
    type: 'array',
    items: { type: ['string', 'integer'] },
    description: 'Weekdays that are off, such as `fri`, or 1 (Monday) to 7.',
  }).optional(),
})

const REFUSALS = ['invalid_rule', 'quota_exceeded', 'conflict'] as const

/** The calls about calendars of days off. */
export const calendarOperations = operationsOf('calendars', {
  listCalendars: {
    rights: 'read',
    summary: 'List the calendars of days off of your tenant',
    answers: ok('All of them, by name.', z.object({ items: z.array(calendar) })),
  },
  getCalendar: {
    rights: 'read',
    summary: 'Get a calendar of days off',
    params,
    answers: ok('The calendar.', calendar),
    refusals: ['not_found'],
  },
  putCalendar: {
    rights: 'admin',
    summary: 'Create a calendar, or replace its days',
    description:
      'Alarms name it in `exclude`. Pending alarms that do are resolved again. Needs a key that is not bound to one owner, because the alarms of all owners can name it.',
    params,
    body,
    answers: ok('The calendar.', written),
    refusals: REFUSALS,
  },
  addToCalendar: {
    rights: 'admin',
    summary: 'Add days to a calendar, or create it',
    description: 'Needs a key that is not bound to one owner.',
    params,
    body,
    answers: ok('The calendar.', written),
    refusals: REFUSALS,
  },
  removeCalendar: {
    rights: 'admin',
    summary: 'Remove a calendar',
    description:
      'It fails while a pending alarm names the calendar. Needs a key that is not bound to one owner.',
    params,
    answers: ok('The calendar is removed.', z.object({ name: z.string(), removed: z.literal(true) })),
    refusals: ['not_found', 'conflict'],
  },
})
