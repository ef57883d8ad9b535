import { setImmediate as nextTurn } from 'node:timers/promises'
import { utf8Length } from '../../alarm/index.ts'
import { eventWire, type OperationName, wireText } from '../../contracts/index.ts'
import { type Alarms, type EventView, withoutUndefined } from '../../library/index.ts'
import { PAGE_BYTES_MAX } from '../../stores/index.ts'
import { pageOf } from './bulk.ts'
import { alarmNamed, type CallsOf, ok, page } from './call.ts'

const EVENTS_DEFAULT = 50
/** After this much, the event loop gets a turn. */
const TURN_BYTES = 256 * 1024

/** The calls about what happened. */
export const readCalls = {
  why: async ({ params }, { caller }) => ok(wireText(await caller.alarms.why(alarmNamed(params)))),

  history: async ({ query }, { caller }) => pageOf(await caller.alarms.historyPage(withoutUndefined(query))),

  stats: async (_input, { caller }) => ok(wireText(await caller.alarms.stats())),

  failed: async ({ query }, { caller }) => pageOf(await caller.alarms.failedPage(withoutUndefined(query))),

  events: async ({ query }, { caller }) => {
    const { after, alarm_id, limit = EVENTS_DEFAULT } = query
    // Read before the log: events appended in between come after it.
    const from = after === 'newest' ? await caller.alarms.newest() : after
    const items = await firstEvents(caller.alarms, from, alarm_id, limit)
    return page(items.map(eventWire), items.at(-1)?.cursor ?? from ?? null)
  },

  append: async ({ body }, { caller }) => {
    const { correlation_id: correlationId, ...rest } = body
    const event = await caller.alarms.append(withoutUndefined({ ...rest, correlationId }))
    return { status: 201, json: eventWire(event) }
  },
} satisfies Partial<CallsOf<OperationName>>

async function firstEvents(
  alarms: Alarms,
  after: string | undefined,
  alarmId: string | undefined,
  limit: number,
): Promise<EventView[]> {
  const events: EventView[] = []
  let [bytes, atTurn] = [0, 0]
  for await (const event of alarms.events(withoutUndefined({ after, alarmId }))) {
    events.push(event)
    bytes += utf8Length(event.dataJson)
    if (events.length === limit || bytes >= PAGE_BYTES_MAX) break
    if (bytes - atTurn < TURN_BYTES) continue
    atTurn = bytes
    await nextTurn()
  }
  return events
}
