import type { OperationName } from '../../contracts/index.ts'
import type { Operator } from '../../library/index.ts'
import type { CalendarFeeds } from '../auth/index.ts'
import type { CallsOf } from './call.ts'
import { upcomingIcs } from './upcoming-calendar.ts'

/** The calls about the calendar of upcoming alarms. */
export function calendarCalls(feeds: CalendarFeeds, operator: Operator) {
  return {
    calendar: async (_input, { caller }) => {
      const calendars = operator.calendarsOf(caller.tenant)
      const body = await upcomingIcs(caller.alarms, calendars, operator.clock)
      return { status: 200, json: body, type: 'text/calendar; charset=utf-8' }
    },

    createCalendar: async (_input, { caller }) => {
      const token = await feeds.create(caller)
      return { status: 201, json: JSON.stringify({ path: `/v1/calendar.ics?token=${token}` }) }
    },

    removeCalendar: async (_input, { caller }) => {
      return { status: 200, json: JSON.stringify({ removed: await feeds.removeAll(caller) }) }
    },
  } satisfies Partial<CallsOf<OperationName>>
}
