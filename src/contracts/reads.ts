import { z } from 'zod'
import { HISTORY_STATUSES } from '../seeds/index.ts'
import { pageAnswer, status } from './alarm-wire.ts'
import { across, acrossById, choice, cursor, idOf, instant, limit, ownText, since, text } from './fields.ts'
import { created, NO_BODY, named, ok, operationsOf } from './operation.ts'

/** How many alarms there are, by outcome. */
export const statsWire = named('Stats', {
  total: z.int(),
  pending: z.int().describe('Active or paused, recurring ones too.'),
  fired: z.int().describe('Delivered, awaiting a report.'),
  completed: z.int(),
  failed: z
    .int()
    .describe(
      'One-shot alarms that failed, and failed occurrences of recurring alarms. Retention does not lower it.',
    ),
  cancelled: z.int(),
  timeout_unknown: z.int().describe('The same of what timed out.'),
  avg_duration_ms: z.number().nullable(),
})

/** The calls that read what happened. */
export const readOperations = operationsOf('what happened', {
  why: {
    rights: 'read',
    summary: 'Get the whole history of an alarm, and what happens next',
    params: z.object({ id: idOf('The alarm’s id.') }),
    query: z.strictObject(acrossById),
    answers: ok(
      'The history, in order.',
      named('Story', {
        id: z.string(),
        tenant: z.string().optional().describe('Its tenant, in a read across owners or tenants.'),
        owner: z.string().optional().describe('Its owner, in a read across owners or tenants.'),
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
    description:
      'With `status` `failed` or `timeout_unknown`, the failures of `GET /v1/failed` with that outcome.',
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
      ...across,
    }),
    answers: pageAnswer,
    refusals: ['invalid_time'],
  },
  stats: {
    rights: 'read',
    summary: 'Count alarms by outcome',
    query: z.strictObject(across),
    answers: ok('The counts.', statsWire),
  },
  failed: {
    rights: 'read',
    summary: 'List what failed or timed out, the newest failure first',
    description:
      'One item for each one-shot alarm that failed or timed out, and for each such occurrence of a recurring alarm: the alarm, with the `occurrence_id`, its `scheduled_for`, and the result, the error and the attempts of that occurrence. An occurrence is listed as long as its event is kept. An alarm that was cancelled because its webhook answered 410 is listed too.',
    query: z.strictObject({ limit: limit(20), cursor, ...across }),
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
