import { z } from 'zod'
import { HISTORY_STATUSES } from '../seeds/index.ts'
import { pageAnswer, status } from './alarm-wire.ts'
import { cursor, instant, limit, name, plain, since, text } from './fields.ts'
import { operation } from './operation.ts'

/** An event on the wire. */
const eventWireSchema = z
  .object({
    id: z.string(),
    cursor: z.string().meta({ description: 'Its place in the log: `after` goes on behind it.' }),
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

/** The calls about what happened. */
export const readOperations = {
  why: operation({
    method: 'GET',
    path: '/v1/alarms/{id}/why',
    chapter: 'what happened',
    rights: 'read',
    summary: 'The whole story of an alarm, and what happens next',
    params: z.object({ id: plain().min(1).max(200) }),
    answers: {
      200: {
        description: 'Its story, in order.',
        schema: z
          .object({
            id: z.string(),
            status,
            timezone: z.string(),
            asked: z.string().meta({ description: 'What was asked, in words.' }),
            story: z.array(
              z.object({
                at: instant('When.'),
                type: z.string().meta({
                  description:
                    'The type of the event it tells of. Two lines tell of no event of the log: the first, `alarm.set`, and an `alarm.fired` for a delivery after a failed report, which the log has recorded once.',
                }),
                text: z.string().meta({ description: 'In words.' }),
              }),
            ),
            next: z.string().meta({ description: 'What happens next, or why nothing does.' }),
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
    summary: 'Alarms by what came of them, newest first',
    query: z.strictObject({
      status: z.enum(HISTORY_STATUSES).optional().meta({
        description:
          'As `stats` counts: `fired` awaits its report, `completed` includes what was just delivered.',
      }),
      target: text('Exactly this target.', 4_096).optional(),
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
    summary: 'How many alarms, by what came of them',
    answers: {
      200: {
        description: 'The figures.',
        schema: z
          .object({
            total: z.int(),
            pending: z.int(),
            fired: z.int().meta({ description: 'Delivered, and the report is awaited.' }),
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
    summary: 'What failed or timed out, newest first',
    query: z.strictObject({ limit: limit(20), cursor }),
    answers: pageAnswer,
  }),
  events: operation({
    method: 'GET',
    path: '/v1/events',
    chapter: 'events',
    rights: 'read',
    summary: 'The log, oldest first, from a place on',
    query: z.strictObject({
      after: text(
        'A cursor, or `newest` for the end of the log. The beginning where nothing is said.',
      ).optional(),
      alarm_id: text('Of this alarm only.').optional(),
      limit: limit(50),
    }),
    answers: {
      200: {
        description:
          'Events, as many as asked for or about 4 MiB of them, and where to go on: `next_cursor` is there also when nothing more has happened yet. An empty page is the end of the log.',
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
    summary: 'Append an event of your own',
    body: z.strictObject({
      type: name('A dotted name, such as `order.paid`; not one of Wakeful’s own.'),
      subject: text('What it is about.').optional(),
      correlation_id: text('What it belongs to.').optional(),
      data: z.unknown().optional().meta({ description: 'An object; it comes back byte for byte.' }),
    }),
    answers: { 201: { description: 'It is in the log, with origin `caught`.', schema: eventWireSchema } },
    refusals: ['payload_too_large'],
  }),
}
