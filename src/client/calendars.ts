import type { Calendars } from '../library/index.ts'
import { bodyText } from './body.ts'
import { orNull } from './error.ts'
import type { HttpTransport } from './transport.ts'

/** The calendars of days off of a tenant on a server. */
export function remoteCalendars(transport: HttpTransport): Calendars {
  const write =
    (call: 'putCalendar' | 'addToCalendar'): Calendars['put'] =>
    // The name in a calendar that `get` returned is ignored.
    (name, { name: _, ...input }) =>
      transport.json(call, { params: { name }, body: bodyText(input), isRepeatable: true })
  return {
    put: write('putCalendar'),
    add: write('addToCalendar'),
    get: (name) => orNull(() => transport.json('getCalendar', { params: { name } })),
    list: async () => (await transport.json('listCalendars')).items,
    remove: async (name) =>
      (await orNull(() => transport.json('removeCalendar', { params: { name } }))) !== null,
  }
}
