import type { OperationName } from '../../contracts/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Audit } from '../audit.ts'
import type { KeyBook } from '../keys/key-book.ts'
import { type LiveParts, liveCalls } from '../live/live-calls.ts'
import type { QuotaGuard } from '../tenants/quota-guard.ts'
import type { TenantBook } from '../tenants/tenant-book.ts'
import { alarmCalls } from './alarms.ts'
import type { CallsOf } from './call.ts'
import { inboxCalls } from './inbox.ts'
import { keyCalls } from './keys.ts'
import { readCalls } from './reads.ts'
import { tenantCalls } from './tenants.ts'

/** What the calls work with beside the caller's own alarms. */
export interface CallParts {
  readonly keys: KeyBook
  readonly tenants: TenantBook
  readonly quotas: QuotaGuard
  readonly clock: Clock
  readonly audit: Audit
  readonly live: LiveParts
}

/** The work of every operation. */
export type Calls = CallsOf<OperationName>

/** Puts together what does the work of every operation. */
export function buildCalls({ keys, tenants, quotas, clock, audit, live }: CallParts): Calls {
  return {
    ...alarmCalls(quotas),
    ...readCalls,
    ...inboxCalls,
    ...keyCalls(keys, clock, audit),
    ...tenantCalls(tenants, audit),
    ...liveCalls(live),
  }
}
