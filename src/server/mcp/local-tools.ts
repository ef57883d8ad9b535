import type { Wakeful } from '../../library/index.ts'
import { DEFAULT_POOL, INBOX } from '../../targets/index.ts'
import { alarmCalls } from '../calls/alarms.ts'
import { inboxCalls } from '../calls/inbox.ts'
import { readCalls } from '../calls/reads.ts'
import { QuotaGuard } from '../tenants/quota-guard.ts'
import { NO_QUOTAS } from '../tenants/quotas.ts'
import { TenantBook } from '../tenants/tenant-book.ts'
import type { ToolCalls } from './tool.ts'
import { type ToolBox, toolBox } from './tool-box.ts'

/** Whose tools they are: on the store itself there are no keys, as for every command on it. */
export interface LocalOwner {
  readonly tenant: string
  readonly owner: string
  /** The zone in which times are read that name none. */
  readonly zone: string
}

/** The tools on a store directly, as one tenant and owner. */
export function localTools(
  wakeful: Wakeful,
  { tenant, owner, zone }: LocalOwner,
  onTrouble: (thrown: unknown) => void,
): ToolBox {
  const { clock, documents, pendingOf } = wakeful.operator
  const quotas = new QuotaGuard(new TenantBook(documents, clock, NO_QUOTAS), clock, pendingOf)
  const alarms = alarmCalls(quotas)
  const calls: ToolCalls = {
    ...alarms,
    ...readCalls,
    ...inboxCalls(null),
    set: (input, around) => alarms.set({ ...input, body: toApplication(input.body) }, around),
    edit: (input, around) => alarms.edit({ ...input, body: toApplication(input.body) }, around),
  }
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
      around: { caller, signal, ...(traceparent !== undefined && { traceparent }) },
      now: () => clock.now(),
    }),
    { zone, onTrouble },
  )
}

/** A handler that is named by its name alone is the application's on the same store: this process has none. */
function toApplication<B extends { readonly target?: unknown }>(body: B): B {
  const { target } = body
  if (typeof target !== 'string' || target === INBOX) return body
  return { ...body, target: { handler: target, pool: DEFAULT_POOL } }
}
