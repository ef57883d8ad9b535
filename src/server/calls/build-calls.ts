import type { OperationName } from '../../contracts/index.ts'
import type { Operator } from '../../library/index.ts'
import type { Audit, CalendarFeeds, KeyRegistry, TicketStore } from '../auth/index.ts'
import type { ConnectionLimiter, RequestQueue } from '../limits/index.ts'
import type { PauseControl, QuotaGuard, TenantRegistry } from '../tenants/index.ts'
import { alarmCalls } from './alarms.ts'
import { calendarCalls } from './calendar.ts'
import type { CallsOf } from './call.ts'
import { inboxCalls } from './inbox.ts'
import { keyCalls } from './keys.ts'
import { queuedCalls } from './queued-calls.ts'
import { readCalls } from './reads.ts'
import { targetCalls } from './targets.ts'
import { tenantCalls } from './tenants.ts'

/** What the calls work with beside the caller's own alarms. */
export interface CallParts {
  readonly keys: KeyRegistry
  readonly tenants: TenantRegistry
  readonly quotas: QuotaGuard
  readonly holds: PauseControl
  readonly feeds: CalendarFeeds
  readonly operator: Operator
  readonly audit: Audit
  /** Answers with a stream; made where live connections are. */
  readonly stream: Calls['stream']
  readonly tickets: TicketStore
  readonly connections: ConnectionLimiter
  /** In which pages are read. */
  readonly pages: RequestQueue
}

/** The work of every operation. */
export type Calls = CallsOf<OperationName>

/** Puts together what does the work of every operation. */
export function buildCalls({
  keys,
  tenants,
  quotas,
  holds,
  feeds,
  operator,
  audit,
  stream,
  tickets,
  connections,
  pages,
}: CallParts): Calls {
  const calls = {
    ...alarmCalls(quotas),
    ...readCalls,
    ...inboxCalls(connections, pages),
    ...calendarCalls(feeds, operator),
    ...keyCalls(keys, tickets, operator.clock, audit),
    ...tenantCalls(tenants, holds, audit),
    ...targetCalls(holds, audit),
    stream,
  }
  return queuedCalls(calls, pages)
}
