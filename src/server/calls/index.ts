import type { OperationName } from '../../contracts/index.ts'
import type { Operator } from '../../library/index.ts'
import type { Audit } from '../auth/audit.ts'
import type { Feeds } from '../auth/calendar-feeds.ts'
import type { KeyRegistry } from '../auth/key-registry.ts'
import type { FairTurns } from '../limits/request-queue.ts'
import { type LiveParts, liveCalls } from '../live/live-calls.ts'
import type { PauseControl } from '../tenants/pause-control.ts'
import type { QuotaGuard } from '../tenants/quota-guard.ts'
import type { TenantRegistry } from '../tenants/tenant-registry.ts'
import { alarmCalls } from './alarms.ts'
import { calendarCalls } from './calendar.ts'
import type { CallsOf } from './call.ts'
import { inboxCalls } from './inbox.ts'
import { keyCalls } from './keys.ts'
import { inTurns } from './queued-calls.ts'
import { readCalls } from './reads.ts'
import { targetCalls } from './targets.ts'
import { tenantCalls } from './tenants.ts'

/** What the calls work with beside the caller's own alarms. */
export interface CallParts {
  readonly keys: KeyRegistry
  readonly tenants: TenantRegistry
  readonly quotas: QuotaGuard
  readonly holds: PauseControl
  readonly feeds: Feeds
  readonly operator: Operator
  readonly audit: Audit
  readonly live: LiveParts
  /** In which pages are read. */
  readonly pages: FairTurns
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
  live,
  pages,
}: CallParts): Calls {
  const calls = {
    ...alarmCalls(quotas),
    ...readCalls,
    ...inboxCalls(live.lines, pages),
    ...calendarCalls(feeds, operator),
    ...keyCalls(keys, operator.clock, audit),
    ...tenantCalls(tenants, holds, audit),
    ...targetCalls(holds, audit),
    ...liveCalls(live),
  }
  return inTurns(calls, pages)
}
