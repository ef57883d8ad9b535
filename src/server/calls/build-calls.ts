import {
  type ByKey,
  byKey,
  ONE_ALARM_CALLS,
  type OneAlarmCall,
  type OperationName,
} from '../../contracts/index.ts'
import type { Operator } from '../../library/index.ts'
import type { CalendarFeeds, KeyRegistry, TicketStore } from '../auth/index.ts'
import {
  type ConnectionLimiter,
  type QuotaGuard,
  RequestQueue,
  type TenantRegistry,
} from '../limits/index.ts'
import type { PauseControl } from '../tenants/index.ts'
import { alarmCalls } from './alarms.ts'
import { calendarFeedCalls } from './calendar-feed.ts'
import { calendarCalls } from './calendars.ts'
import type { Audit, CallContext, CallsOf, Reply } from './call.ts'
import { inboxCalls } from './inbox.ts'
import { keyCalls } from './keys.ts'
import { readCalls } from './reads.ts'
import { targetCalls } from './targets.ts'
import { tenantCalls } from './tenants.ts'

/** A page is up to 4 MiB, and several times that until its text is made. */
const PAGES = { concurrency: 4, waitingMax: 1_000 }
/** Each holds a page while it acts. */
const ACTS = { concurrency: 4, waitingMax: 100 }
/** Each holds its items, which are read before it waits. */
const BATCHES = { concurrency: 4, waitingMax: 100, totalWaitingMax: 200 }
/** Enough for sets to share a commit; no more start in one turn of the event loop. */
const OTHERS = { concurrency: 128, waitingMax: 10_000 }

/** What the calls work with besides the caller's alarms. */
export interface CallParts {
  readonly keys: KeyRegistry
  readonly tenants: TenantRegistry
  readonly quotas: QuotaGuard
  readonly pauses: PauseControl
  readonly feeds: CalendarFeeds
  readonly tickets: TicketStore
  readonly operator: Operator
  readonly audit: Audit
  readonly connections: ConnectionLimiter
  /** Answers with a stream of events; made by `live/`. */
  readonly stream: Calls['stream']
}

/** The calls that name an alarm by its key: the work is the same. */
function callsByKey(calls: CallsOf<OneAlarmCall>): CallsOf<ByKey<OneAlarmCall>> {
  const named = ONE_ALARM_CALLS.map((name) => [byKey(name), calls[name]])
  return Object.fromEntries(named) as CallsOf<ByKey<OneAlarmCall>>
}

/** The work of every operation. */
export type Calls = CallsOf<OperationName>

type AnyCall = (input: unknown, context: CallContext) => Reply | Promise<Reply>

/**
 * The work of every operation, and the queue of reads that return a page. Each call goes through a queue, so that no caller
 * can keep others from being answered.
 */
export function buildCalls(parts: CallParts): { calls: Calls; pages: RequestQueue } {
  const { keys, tenants, quotas, pauses, feeds, tickets, operator, audit, connections, stream } = parts
  const pages = new RequestQueue(PAGES)
  const onAlarms = { ...alarmCalls(quotas), ...readCalls }
  const calls: Calls = {
    ...onAlarms,
    ...callsByKey(onAlarms),
    ...inboxCalls(connections, pages),
    ...calendarFeedCalls(feeds, operator),
    ...calendarCalls(audit),
    ...keyCalls(keys, tickets, operator.clock, audit),
    ...tenantCalls(tenants, pauses, audit),
    ...targetCalls(pauses, audit),
    stream,
  }
  const others = new RequestQueue(OTHERS)
  const queues: Readonly<Partial<Record<OperationName, RequestQueue | null>>> = {
    list: pages,
    history: pages,
    failed: pages,
    events: pages,
    getCalendarFeed: pages,
    act: new RequestQueue(ACTS),
    setMany: new RequestQueue(BATCHES),
    // These may wait for long; what they read goes through a queue where it is read.
    inbox: null,
    stream: null,
  }
  const queued = (Object.entries(calls) as [OperationName, AnyCall][]).map(([name, call]) => {
    const queue = queues[name] === undefined ? others : queues[name]
    return [name, queue === null ? call : queue.wrap(call)]
  })
  return { calls: Object.fromEntries(queued) as Calls, pages }
}
