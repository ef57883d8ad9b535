import { z } from 'zod'
import { wireShape } from './alarm-fields.ts'

/** An alarm in an answer: Chronos's View field for field, with its omissions, then what Wakeful adds. */
export const alarmWire = z.object(wireShape).meta({ id: 'Alarm' })

/** An alarm that was set. */
export const setWire = alarmWire
  .extend({
    deduped: z
      .literal(true)
      .optional()
      .meta({ description: 'Its idempotency key was known: this is the first alarm, and nothing changed.' }),
  })
  .meta({ id: 'SetAlarm' })

/** A page of alarms. */
const alarmPage = z
  .object({ items: z.array(alarmWire), next_cursor: z.string().nullable() })
  .meta({ id: 'AlarmPage' })

/** What a call that lists alarms answers with. */
export const pageAnswer = {
  200: {
    description:
      'A page of them. It ends at the limit, or earlier with about 4 MiB of content, or when much was looked at for few that fit: only a `next_cursor` of null says that there are no more. A page shows one moment (on SQLite a large one is read in pieces, each of one moment); an alarm that is moved in time between two pages by due time may come twice or not at all.',
    schema: alarmPage,
  },
}
