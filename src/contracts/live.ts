import { z } from 'zod'
import { instant, plain, text } from './fields.ts'
import { operation } from './operation.ts'

const LIVE_AFTER =
  'A cursor, `newest` for events from now on, or `oldest` for all that are kept. Default: `newest`.'

/** Types of events, as a list or separated by commas. */
const types = z
  .union([plain().min(1).max(2_000), z.array(plain().min(1).max(200)).min(1).max(100)])
  .meta({ description: 'Only events of these types: `alarm.fired,alarm.failed`.' })

/** The events of a stream, or of a subscription over the WebSocket. */
const followed = {
  after: text(LIVE_AFTER).optional(),
  alarm_id: text('Only events of this alarm.').optional(),
  types: types.optional(),
}

/** The arguments of `subscribe` over the WebSocket. */
export const subscribeArgs = z.strictObject(followed)

/** The calls of live connections. */
export const liveOperations = {
  stream: operation({
    method: 'GET',
    path: '/v1/events/stream',
    chapter: 'events',
    rights: 'read',
    summary: 'Follow the log (server-sent events)',
    description:
      'Each event has its cursor as `id`, its type as `event` and its JSON as `data`, on one line. A client that reconnects with `Last-Event-ID`, which overrides `after`, misses no event and gets none twice. Comments keep the connection alive.',
    query: z.strictObject({
      ...followed,
      types: plain()
        .min(1)
        .max(2_000)
        .meta({ description: 'Only events of these types, separated by commas: `alarm.fired,alarm.failed`.' })
        .optional(),
      ticket: text('A ticket instead of a key, for browsers: `POST /v1/tickets`.', 100).optional(),
    }),
    acceptsTicket: true,
    answers: {
      200: {
        description: 'Events, until either side closes the connection.',
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
      'For browsers, whose EventSource and WebSocket cannot send headers: `?ticket=…` replaces your key, tenant and owner at `/v1/events/stream` or `/v1/ws`. It is valid once, for 30 seconds.',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: {
      201: {
        description: 'The ticket.',
        schema: z
          .object({ ticket: z.string(), expires_at: instant('When it expires.') })
          .meta({ id: 'Ticket' }),
      },
    },
  }),
}
