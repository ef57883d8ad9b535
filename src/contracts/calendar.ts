import { z } from 'zod'
import { text } from './fields.ts'
import { operation } from './operation.ts'

/** The calls about the calendar of upcoming alarms. */
export const calendarOperations = {
  calendar: operation({
    method: 'GET',
    path: '/v1/calendar.ics',
    chapter: 'what happened',
    rights: 'read',
    summary: 'Your alarms of the next month as a calendar',
    description:
      'With a key, or by the secret address that `POST /v1/calendar` answers with. The next alarms first, 100 instants of each, 5,000 in all and 2 MiB; what is said of one is cut after 200 characters.',
    byToken: true,
    query: z.strictObject({ token: text('The secret part of the address.').optional() }),
    answers: { 200: { description: 'An iCalendar (RFC 5545).', type: 'text/calendar' } },
  }),
  createCalendar: operation({
    method: 'POST',
    path: '/v1/calendar',
    chapter: 'what happened',
    rights: 'write',
    summary: 'Make a secret address that calendar programs can subscribe to',
    description: 'It is good for as long as the key that made it, rotated or not.',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: {
      201: {
        description: 'The address: whoever has it sees your alarms. It is shown this once.',
        schema: z.object({
          path: z.string().meta({ description: 'To be put behind the address of the server.' }),
        }),
      },
    },
  }),
  removeCalendar: operation({
    method: 'DELETE',
    path: '/v1/calendar',
    chapter: 'what happened',
    rights: 'write',
    summary: 'End all secret addresses of your calendar',
    answers: { 200: { description: 'How many there were.', schema: z.object({ removed: z.int() }) } },
  }),
}
