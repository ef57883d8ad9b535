import { z } from 'zod'
import { HISTORY_STATUSES } from '../seeds/index.ts'
import { pageAnswer, status } from './alarm-wire.ts'
import { cursor, instant, limit, name, plain, since, text } from './fields.ts'
import { operation } from './operation.ts'

/** An event on the wire. */
const eventWireSchema = z
  .object({
    id: z.string(),
    cursor: z.string().meta({ description: 'Its position in the log, for `after`.' }),
    tenant: z.string(),
    type: z.string(),
    origin: z.enum(['caught', 'caused', 'derived', 'scheduled']),
    alarm_id: z.string().nullable(),
    occurrence_id: z.string().nullable(),
    key: z.string().nullable(),
    subject: z.string().nullable(),
    correlation_id: z.string().nullable(),
    at: instant('When it happened.'),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' })

/** The calls that read what happened. */
export const readOperations = {
  why: operation({
    method: 'GET',
    path: '/v1/alarms/{id}/why',
    chapter: 'what happened',
    rights: 'read',
    summary: 'Get the whole story of an alarm, and what happens next',
    params: z.object({ id: plain().min(1).max(200) }),
    answers: {
      200: {
        description: 'The story, in order.',
        schema: z
          .object({
            id: z.string(),
            status,
            timezone: z.string(),
            asked: z.string().meta({ description: 'What was set, in words.' }),
            story: z.array(
              z.object({
                at: instant('When.'),
                type: z.string().meta({
                  description:
                    'The type of its event. Two lines have no event in the log: the first, `alarm.set`, and an `alarm.fired` for a delivery after a failed report, since the log records only the first delivery.',
                }),
                text: z.string().meta({ description: 'In words.' }),
                error: z
                  .string()
                  .optional()
                  .meta({ description: 'The error of a failed attempt or a failed alarm.' }),
                reason: z
                  .string()
                  .optional()
                  .meta({ description: 'Why occurrences were skipped, or the alarm was rescheduled.' }),
              }),
            ),
            next: z.string().meta({ description: 'What happens next, or why nothing will.' }),
          })
          .meta({ id: 'Story' }),
      },
    },
    refusals: ['not_found'],
  }),
  history: operation({
    method: 'GET',
    path: '/v1/history',
    chapter: 'what happened',
    rights: 'read',
    summary: 'List alarms by outcome, newest first',
    query: z.strictObject({
      status: z.enum(HISTORY_STATUSES).optional().meta({
        description:
          'As counted by `stats`: `fired` awaits a report, `completed` includes delivered alarms that need no report.',
      }),
      target: text('The exact target.', 4_096).optional(),
      process: text('Another name for `target`.', 4_096).optional(),
      since,
      limit: limit(50),
      cursor,
    }),
    answers: pageAnswer,
    refusals: ['invalid_time'],
  }),
  stats: operation({
    method: 'GET',
    path: '/v1/stats',
    chapter: 'what happened',
    rights: 'read',
    summary: 'Count alarms by outcome',
    answers: {
      200: {
        description: 'The counts.',
        schema: z
          .object({
            total: z.int(),
            pending: z.int(),
            fired: z.int().meta({ description: 'Delivered, awaiting a report.' }),
            completed: z.int(),
            failed: z.int(),
            cancelled: z.int(),
            timeout_unknown: z.int(),
            avg_duration_ms: z.number().nullable(),
          })
          .meta({ id: 'Stats' }),
      },
    },
  }),
  failed: operation({
    method: 'GET',
    path: '/v1/failed',
    chapter: 'what happened',
    rights: 'read',
    summary: 'List alarms that failed or timed out, newest first',
    query: z.strictObject({ limit: limit(20), cursor }),
    answers: pageAnswer,
  }),
  events: operation({
    method: 'GET',
    path: '/v1/events',
    chapter: 'events',
    rights: 'read',
    summary: 'Read the log, oldest first',
    query: z.strictObject({
      after: text('A cursor, or `newest` for the end of the log. Default: the beginning.').optional(),
      alarm_id: text('Only events of this alarm.').optional(),
      limit: limit(50),
    }),
    answers: {
      200: {
        description:
          'Events, up to `limit` or about 4 MiB. `next_cursor` is present even at the end of the log, to continue later. An empty page is the end of the log.',
        schema: z.object({ items: z.array(eventWireSchema), next_cursor: z.string().nullable() }),
      },
    },
    refusals: ['cursor_expired'],
  }),
  append: operation({
    method: 'POST',
    path: '/v1/events',
    chapter: 'events',
    rights: 'write',
    summary: 'Append your own event',
    body: z.strictObject({
      type: name('A dotted name, such as `order.paid`. Wakeful’s own types are reserved.'),
      subject: text('What it is about.').optional(),
      correlation_id: text('What it belongs to.').optional(),
      data: z.unknown().optional().meta({ description: 'An object, returned byte for byte.' }),
    }),
    answers: { 201: { description: 'The event, with origin `caught`.', schema: eventWireSchema } },
    refusals: ['payload_too_large'],
  }),
}
