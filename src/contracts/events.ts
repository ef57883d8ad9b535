import { z } from 'zod'
import { ORIGINS } from '../alarm/index.ts'
import { across, choice, eventTime, instant, judged, limit, name, ownText, text } from './fields.ts'
import { created, NO_BODY, named, ok, operationsOf, pageOf } from './operation.ts'

const eventWireSchema = named('Event', {
  id: z.string(),
  cursor: z.string().describe('Its position in the log, for `after`.'),
  tenant: z.string(),
  owner: z.string().optional().describe('Its owner, in a read across owners or tenants.'),
  type: z.string(),
  origin: z.enum(ORIGINS),
  alarm_id: z.string().nullable(),
  occurrence_id: z.string().nullable(),
  key: z.string().nullable(),
  subject: z.string().nullable(),
  correlation_id: z.string().nullable(),
  at: instant('When it happened.'),
  data: z.record(z.string(), z.unknown()),
})

const LIVE_AFTER =
  'A cursor, `newest` for events from now on, or `oldest` for all that are kept. Default: `newest`, or `oldest` with `since`.'

/** Which events to read. The library checks the values. */
const filters = {
  alarm_id: ownText('Only events of this alarm.').optional(),
  type: judged<string | string[]>({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    description:
      'Only events of this type; repeat it, or separate types by commas. `alarm.*` stands for all that begin with `alarm.`.',
    examples: ['alarm.fired,alarm.failed'],
  }).optional(),
  origin: choice(ORIGINS, 'Only events of this origin.').optional(),
  subject: text('Only events about this subject.').optional(),
  correlation_id: text('Only events with this correlation id.').optional(),
  since: eventTime('Only events at or after this time').optional(),
  ...across,
}

/** The events of a stream, or of a subscription over the WebSocket. */
const followed = {
  after: ownText(LIVE_AFTER).optional(),
  ...filters,
}

/** The arguments of `subscribe` over the WebSocket. */
export const subscribeArgs = z.strictObject(followed)

/** The calls about the log. */
export const eventOperations = operationsOf('events', {
  events: {
    rights: 'read',
    summary: 'Read the log, oldest first',
    query: z.strictObject({
      after: ownText('A cursor, or `newest` for the end of the log. Default: the beginning.').optional(),
      ...filters,
      until: eventTime('Only events before this time').optional(),
      limit: limit(50),
    }),
    repeatable: ['type'],
    answers: ok(
      'Events, up to `limit` or about 4 MiB. `next_cursor` is present even at the end of the log, to continue later. You are at the end if it is the `after` that you sent: a page may be empty before, because a filter that matches little is answered in parts.',
      pageOf(eventWireSchema),
    ),
    refusals: ['cursor_expired', 'invalid_time'],
  },
  append: {
    rights: 'write',
    summary: 'Append your own event',
    body: z.strictObject({
      type: name('A dotted name, such as `order.paid`. Wakeful’s own types are reserved.'),
      subject: text('What it is about.').optional(),
      correlation_id: text('What it belongs to.').optional(),
      data: judged<unknown>({ description: 'An object, returned byte for byte.' }).optional(),
    }),
    answers: created('The event, with origin `caught`.', eventWireSchema),
    refusals: ['payload_too_large'],
  },
  stream: {
    rights: 'read',
    summary: 'Follow the log (server-sent events)',
    description:
      'Each event has its cursor as `id`, its type as `event` and its JSON as `data`, on one line. A client that reconnects with `Last-Event-ID`, which overrides `after`, misses no event and gets none twice. Comments keep the connection alive.',
    query: z.strictObject({
      ...followed,
      ticket: ownText('A ticket instead of a key, for browsers: `POST /v1/tickets`.', 100).optional(),
    }),
    acceptsTicket: true,
    repeatable: ['type'],
    answers: {
      200: {
        description: 'Events, until either side closes the connection.',
        type: 'text/event-stream',
        schema: z.string(),
      },
    },
    refusals: ['cursor_expired', 'invalid_time'],
  },
  createTicket: {
    rights: 'read',
    summary: 'Get a ticket for a live connection',
    description:
      'For browsers, whose EventSource and WebSocket cannot send headers: `?ticket=…` replaces your key, tenant and owner at `/v1/events/stream` or `/v1/ws`. It is valid once, for 30 seconds.',
    ...NO_BODY,
    answers: created(
      'The ticket.',
      named('Ticket', { ticket: z.string(), expires_at: instant('When it expires.') }),
    ),
  },
})
