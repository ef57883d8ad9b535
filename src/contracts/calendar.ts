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
    summary: 'Get your alarms of the next month as a calendar',
    description:
      'With a key, or at the secret address from `POST /v1/calendar`. It has the next alarms, at most 100 instants of each, 5,000 in total and 2 MiB. Descriptions are cut after 200 characters.',
    byToken: true,
    query: z.strictObject({ token: text('The secret part of the address.').optional() }),
    answers: { 200: { description: 'An iCalendar (RFC 5545).', type: 'text/calendar' } },
  }),
  createCalendar: operation({
    method: 'POST',
    path: '/v1/calendar',
    chapter: 'what happened',
    rights: 'write',
    summary: 'Create a secret address that calendar programs can subscribe to',
    description: 'It is valid as long as the key that created it, even if that key is rotated.',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: {
      201: {
        description: 'The address. Anyone who has it can see your alarms. It is shown only once.',
        schema: z.object({
          path: z.string().meta({ description: 'Append it to the URL of the server.' }),
        }),
      },
    },
  }),
  removeCalendar: operation({
    method: 'DELETE',
    path: '/v1/calendar',
    chapter: 'what happened',
    rights: 'write',
    summary: 'Revoke all secret addresses of your calendar',
    answers: {
      200: { description: 'The number of revoked addresses.', schema: z.object({ removed: z.int() }) },
    },
  }),
}
