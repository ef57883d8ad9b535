import type { Wakeful } from '../../library/index.ts'
import { buildCalls } from '../calls/index.ts'
import { KeyBook } from '../keys/key-book.ts'
import { QuotaGuard } from '../tenants/quota-guard.ts'
import { NO_QUOTAS } from '../tenants/quotas.ts'
import { TenantBook } from '../tenants/tenant-book.ts'
import { type ToolBox, toolBox } from './tool-box.ts'

/** Whose tools they are: on the store itself there are no keys, as for every command on it. */
export interface LocalOwner {
  readonly tenant: string
  readonly owner: string
}

/** The tools on a store directly, as one tenant and owner. */
export function localTools(
  wakeful: Wakeful,
  { tenant, owner }: LocalOwner,
  onTrouble: (thrown: unknown) => void,
): ToolBox {
  const { clock, documents, pendingOf } = wakeful.operator
  const tenants = new TenantBook(documents, clock, NO_QUOTAS)
  const calls = buildCalls({
    keys: new KeyBook(documents, clock),
    tenants,
    quotas: new QuotaGuard(tenants, clock, pendingOf),
    clock,
    audit: () => Promise.resolve(),
  })
  const caller = {
    tenant,
    owner,
    rights: 'write',
    keyId: null,
    key: null,
    via: 'mcp',
    alarms: wakeful,
  } as const
  return toolBox(({ signal }) => ({ calls, around: { caller, signal }, now: () => clock.now() }), onTrouble)
}
