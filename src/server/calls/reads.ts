import { setImmediate as nextTurn } from 'node:timers/promises'
import { utf8Length } from '../../alarm/index.ts'
import { eventWire, type OperationName, wireText } from '../../contracts/index.ts'
import { type EventsOptions, type EventView, type LocalReads, withoutUndefined } from '../../library/index.ts'
import { PAGE_BYTES_MAX } from '../../stores/index.ts'
import { pageOf } from './bulk.ts'
import { alarmNamed, type CallsOf, ok, page } from './call.ts'
import { readerById, readerOf } from './wide-reads.ts'

const EVENTS_DEFAULT = 50
/** Pages of the log that one call reads: with a filter, each is up to 10,000 events of which few may match. */
const PAGES_READ_MAX = 100
/** After this much, the event loop gets a turn. */
const TURN_BYTES = 256 * 1024

/** The calls about what happened. */
export const readCalls = {
  why: async ({ params, query }, { caller }) => {
    const ref = alarmNamed(params)
    const { alarms, story } = readerById(caller, ref, query)
    return ok(wireText(story(await alarms.why(ref))))
  },

  history: async ({ query: { owner, tenant, ...query } }, { caller }) => {
    const { alarms, json } = readerOf(caller, { owner, tenant })
    return pageOf(await alarms.historyPage(withoutUndefined(query)), json)
  },

  stats: async ({ query }, { caller }) => ok(wireText(await readerOf(caller, query).alarms.stats())),

  failed: async ({ query: { owner, tenant, ...query } }, { caller }) => {
    const { alarms, json } = readerOf(caller, { owner, tenant })
    return pageOf(await alarms.failedPage(withoutUndefined(query)), json)
  },

  events: async ({ query }, { caller }) => {
    const { limit = EVENTS_DEFAULT, owner, tenant, ...asked } = query
    const { alarms } = readerOf(caller, { owner, tenant })
    const { events, cursor } = await firstEvents(alarms, eventsOptions(asked), limit)
    return page(events.map(eventWire), cursor)
  },

  append: async ({ body }, { caller }) => {
    const { correlation_id: correlationId, ...rest } = body
    const event = await caller.alarms.append(withoutUndefined({ ...rest, correlationId }))
    return { status: 201, json: eventWire(event) }
  },
} satisfies Partial<CallsOf<OperationName>>

/** The options of the library, from the names in JSON. */
export function eventsOptions(query: {
  readonly alarm_id?: string | undefined
  readonly correlation_id?: string | undefined
  readonly [same: string]: unknown
}): EventsOptions {
  const { alarm_id: alarmId, correlation_id: correlationId, ...rest } = query
  return withoutUndefined({ ...rest, alarmId, correlationId })
}

/** Events up to the limit, and the cursor to continue from. */
async function firstEvents(alarms: LocalReads, options: EventsOptions, limit: number) {
  const events: EventView[] = []
  let cursor: string | null = null
  let [pages, bytes, atTurn] = [0, 0, 0]
  for await (const { items, nextCursor } of alarms.eventPages(options)) {
    for (const event of items) {
      events.push(event)
      cursor = event.cursor
      bytes += utf8Length(event.dataJson)
      if (events.length === limit || bytes >= PAGE_BYTES_MAX) return { events, cursor }
      if (bytes - atTurn < TURN_BYTES) continue
      atTurn = bytes
      await nextTurn()
    }
    cursor = nextCursor
    pages += 1
    if (pages === PAGES_READ_MAX) break
  }
  return { events, cursor }
}
