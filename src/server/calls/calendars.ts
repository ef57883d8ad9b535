import { type OperationName, wireText } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type Calendars, withoutUndefined } from '../../library/index.ts'
import { closest } from '../../time/index.ts'
import { type Audit, type CallsOf, ok } from './call.ts'
import { assertWholeTenant } from './keys.ts'

const WHAT = 'calendar'

/** The calls about calendars of days off; the calendar feed of upcoming alarms is `calendar-feed.ts`. */
export function calendarCalls(audit: Audit) {
  return {
    listCalendars: async (_input, { caller }) =>
      ok(wireText({ items: await caller.alarms.calendars.list() })),

    getCalendar: async ({ params: { name } }, { caller }) => {
      const { calendars } = caller.alarms
      const found = await calendars.get(name)
      if (found === null) throw await noCalendar(name, calendars)
      return ok(wireText(found))
    },

    putCalendar: async ({ params: { name }, body }, { caller }) => {
      assertWholeTenant(caller, WHAT)
      const calendar = await caller.alarms.calendars.put(name, withoutUndefined(body))
      await audit(caller, 'calendar_put', { name })
      return ok(wireText(calendar))
    },

    addToCalendar: async ({ params: { name }, body }, { caller }) => {
      assertWholeTenant(caller, WHAT)
      const calendar = await caller.alarms.calendars.add(name, withoutUndefined(body))
      await audit(caller, 'calendar_added_to', { name })
      return ok(wireText(calendar))
    },

    removeCalendar: async ({ params: { name } }, { caller }) => {
      assertWholeTenant(caller, WHAT)
      const { calendars } = caller.alarms
      if (!(await calendars.remove(name))) throw await noCalendar(name, calendars)
      await audit(caller, 'calendar_removed', { name })
      return ok(wireText({ name, removed: true }))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

async function noCalendar(name: string, calendars: Calendars): Promise<WakefulError> {
  const names = (await calendars.list()).map((each) => each.name)
  const near = closest(name, names)
  return new WakefulError('calendar.not_found', { name: JSON.stringify(name.slice(0, 100)), near })
}
