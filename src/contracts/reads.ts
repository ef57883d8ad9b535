import { z } from 'zod'
import { HISTORY_STATUSES } from '../seeds/index.ts'
import { pageAnswer, status } from './alarm-wire.ts'
import { choice, cursor, idOf, instant, limit, ownText, since, text } from './fields.ts'
import { created, NO_BODY, named, ok, operationsOf } from './operation.ts'

/** The calls that read what happened. */
export const readOperations = operationsOf('what happened', {
  why: {
    rights: 'read',
    summary: 'Get the whole history of an alarm, and what happens next',
    params: z.object({ id: idOf('The alarm’s id.') }),
    answers: ok(
      'The history, in order.',
      named('Story', {
        id: z.string(),
        status,
        timezone: z.string(),
        asked: z.string().describe('What was set, in words.'),
        story: z.array(
          z.object({
            at: instant('When.'),
            type: z
              .string()
              .describe(
                'The type of its event. Two lines have no event in the log: the first, `alarm.set`, and an `alarm.fired` for a delivery after a failed report, since the log records only the first delivery.',
              ),
            text: z.string().describe('In words.'),
            error: z.string().optional().describe('The error of a failed attempt or a failed alarm.'),
            reason: z
              .string()
              .optional()
              .describe('Why occurrences were skipped, or the alarm was rescheduled.'),
          }),
        ),
        next: z.string().describe('What happens next, or why nothing will.'),
      }),
    ),
    refusals: ['not_found'],
  },
  history: {
    rights: 'read',
    summary: 'List alarms by outcome, newest first',
    query: z.strictObject({
      status: choice(
        HISTORY_STATUSES,
        'As counted by `stats`: `fired` awaits a report, `completed` includes delivered alarms that need no report.',
      ).optional(),
      target: text('The exact target.', 4_096).optional(),
      process: text('Another name for `target`.', 4_096).optional(),
      since,
      limit: limit(50),
      cursor,
    }),
    answers: pageAnswer,
    refusals: ['invalid_time'],
  },
  stats: {
    rights: 'read',
    summary: 'Count alarms by outcome',
    answers: ok(
      'The counts.',
      named('Stats', {
        total: z.int(),
        pending: z.int(),
        fired: z.int().describe('Delivered, awaiting a report.'),
        completed: z.int(),
        failed: z.int(),
        cancelled: z.int(),
        timeout_unknown: z.int(),
        avg_duration_ms: z.number().nullable(),
      }),
    ),
  },
  failed: {
    rights: 'read',
    summary: 'List alarms that failed or timed out, newest first',
    query: z.strictObject({ limit: limit(20), cursor }),
    answers: pageAnswer,
  },
})

/** The calls about the calendar feed of upcoming alarms. */
export const calendarFeedOperations = operationsOf('what happened', {
  getCalendarFeed: {
    rights: 'read',
    summary: 'Get your alarms of the next month as a calendar',
    description:
      'With a key, or at the secret address from `POST /v1/calendar`. It has the next alarms, at most 100 instants of each, 5,000 in total and 2 MiB. Descriptions are cut after 200 characters.',
    byToken: true,
    query: z.strictObject({ token: ownText('The secret part of the address.').optional() }),
    answers: { 200: { description: 'An iCalendar (RFC 5545).', type: 'text/calendar' } },
  },
  createCalendarFeed: {
    rights: 'write',
    summary: 'Create a secret address that calendar programs can subscribe to',
    description: 'It is valid as long as the key that created it, even if that key is rotated.',
    ...NO_BODY,
    answers: created(
      'The address. Anyone who has it can see your alarms. It is shown only once.',
      z.object({
        path: z.string().describe('Append it to the URL of the server.'),
      }),
    ),
  },
  removeCalendarFeed: {
    rights: 'write',
    summary: 'Revoke all secret addresses of your calendar',
    answers: ok('The number of revoked addresses.', z.object({ removed: z.int() })),
  },
})
