import { z } from 'zod'
import { instant, plain, text } from './fields.ts'
import { operation } from './operation.ts'

const LIVE_AFTER =
  'A cursor; `newest`, what happens from now on, where nothing is said; `oldest` for all that is kept.'

/** Types of events, as a list or as one text with commas. */
const types = z
  .union([plain().min(1).max(2_000), z.array(plain().min(1).max(200)).min(1).max(100)])
  .meta({ description: 'Of these types only: `alarm.fired,alarm.failed`.' })

/** Which events are followed: of the stream, and of a subscription over the WebSocket. */
const followed = {
  after: text(LIVE_AFTER).optional(),
  alarm_id: text('Of this alarm only.').optional(),
  types: types.optional(),
}

/** What `subscribe` takes over the WebSocket. */
export const subscribeArgs = z.strictObject(followed)

/** The calls of those who stay connected. */
export const liveOperations = {
  stream: operation({
    method: 'GET',
    path: '/v1/events/stream',
    chapter: 'events',
    rights: 'read',
    summary: 'The log as it grows (server-sent events)',
    description:
      'Each event has its cursor as `id`, its type as `event` and itself as `data`, on one line. Who comes back with `Last-Event-ID` misses nothing and gets nothing twice; it goes before `after`. Comments in between say that the connection lives.',
    query: z.strictObject({
      ...followed,
      types: plain()
        .min(1)
        .max(2_000)
        .meta({ description: 'Of these types only, with commas in between: `alarm.fired,alarm.failed`.' })
        .optional(),
      ticket: text('A ticket in place of a key, for browsers: `POST /v1/tickets`.', 100).optional(),
    }),
    acceptsTicket: true,
    answers: {
      200: {
        description: 'Events, until either side ends it.',
        type: 'text/event-stream',
        schema: z.string(),
      },
    },
    refusals: ['cursor_expired'],
  }),
  createTicket: operation({
    method: 'POST',
    path: '/v1/tickets',
    chapter: 'events',
    rights: 'read',
    summary: 'Get a ticket for a live connection',
    description:
      'For browsers, whose EventSource and WebSocket send no headers: `?ticket=…` stands for your key, tenant and owner, once, within 30 seconds, at `/v1/events/stream` or `/v1/ws`.',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: {
      201: {
        description: 'The ticket.',
        schema: z
          .object({ ticket: z.string(), expires_at: instant('It is good for nothing from then on.') })
          .meta({ id: 'Ticket' }),
      },
    },
  }),
}
