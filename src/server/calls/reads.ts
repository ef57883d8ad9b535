import { setImmediate as turn } from 'node:timers/promises'
import { utf8Length } from '../../alarm/index.ts'
import { eventWire, type OperationName, wireText } from '../../contracts/index.ts'
import type { Alarms, EventView } from '../../library/index.ts'
import { PAGE_BYTES_MAX } from '../../stores/index.ts'
import { pageJson } from './bulk.ts'
import { type CallsOf, ok } from './call.ts'

const EVENTS_DEFAULT = 50
/** After so much, everything else in the process gets its turn. */
const TURN_BYTES = 256 * 1024

/** The calls about what happened. */
export const readCalls = {
  why: async ({ params }, { caller }) => ok(wireText(await caller.alarms.why(params.id))),

  history: async ({ query }, { caller }) => {
    const { status, target, process, since, limit, cursor } = query
    const page = await caller.alarms.historyPage({
      ...(status !== undefined && { status }),
      ...(target !== undefined && { target }),
      ...(process !== undefined && { process }),
      ...(since !== undefined && { since }),
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    return ok(pageJson(page))
  },

  stats: async (_input, { caller }) => ok(wireText(await caller.alarms.stats())),

  failed: async ({ query: { limit, cursor } }, { caller }) => {
    const page = await caller.alarms.failedPage({
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    return ok(pageJson(page))
  },

  events: async ({ query }, { caller }) => {
    const { after, alarm_id, limit = EVENTS_DEFAULT } = query
    // Read before the log is: what is appended in between is behind it.
    const from = after === 'newest' ? await caller.alarms.newest() : after
    const items = await firstEvents(caller.alarms, from, alarm_id, limit)
    const next = items.at(-1)?.cursor ?? from ?? null
    return ok(`{"items":[${items.map(eventWire).join(',')}],"next_cursor":${JSON.stringify(next)}}`)
  },

  append: async ({ body }, { caller }) => {
    const { type, subject, correlation_id, data } = body
    const event = await caller.alarms.append({
      type,
      ...(subject !== undefined && { subject }),
      ...(correlation_id !== undefined && { correlationId: correlation_id }),
      ...(data !== undefined && { data }),
    })
    return { status: 201, json: eventWire(event) }
  },
} satisfies Partial<CallsOf<OperationName>>

async function firstEvents(
  alarms: Alarms,
  after: string | undefined,
  alarmId: string | undefined,
  limit: number,
): Promise<EventView[]> {
  const options = { ...(after !== undefined && { after }), ...(alarmId !== undefined && { alarmId }) }
  const events: EventView[] = []
  let [bytes, rested] = [0, 0]
  for await (const event of alarms.events(options)) {
    events.push(event)
    bytes += utf8Length(event.dataJson)
    if (events.length === limit || bytes >= PAGE_BYTES_MAX) break
    if (bytes - rested < TURN_BYTES) continue
    rested = bytes
    await turn()
  }
  return events
}
