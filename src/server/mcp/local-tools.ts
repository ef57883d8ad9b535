import type { Wakeful } from '../../library/index.ts'
import { alarmCalls, inboxCalls, readCalls } from '../calls/index.ts'
import { NO_QUOTAS, QuotaGuard, TenantRegistry } from '../tenants/index.ts'
import type { ToolCalls } from './tool.ts'
import { type ToolBox, toolBox } from './tool-box.ts'

/** As whom the tools act. Directly on a store there are no keys. */
export interface LocalOwner {
  readonly tenant: string
  readonly owner: string
  /** The zone of times that name none. */
  readonly zone: string
}

/** The tools of one tenant and owner, directly on a store. */
export function localTools(
  wakeful: Wakeful,
  { tenant, owner, zone }: LocalOwner,
  onError: (thrown: unknown) => void,
): ToolBox {
  const { clock, documents } = wakeful.operator
  const quotas = new QuotaGuard(new TenantRegistry(documents, clock, NO_QUOTAS), clock, wakeful.operator)
  const calls: ToolCalls = { ...alarmCalls(quotas), ...readCalls, ...inboxCalls(null, null) }
  const caller = {
    tenant,
    owner,
    rights: 'write',
    keyId: null,
    keyHash: null,
    key: null,
    via: 'mcp',
    alarms: wakeful,
  } as const
  return toolBox(
    ({ signal, traceparent }) => ({
      calls,
      context: { caller, signal, ...(traceparent !== undefined && { traceparent }) },
      now: () => clock.now(),
    }),
    { zone, onError },
  )
}
