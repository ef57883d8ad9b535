import { type OperationName, wireText } from '../../contracts/index.ts'
import { inField, WakefulError } from '../../error.ts'
import type { Operator, StatsView } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import { checkedQuotas, type TenantRegistry, type TenantView } from '../limits/index.ts'
import type { PauseControl } from '../tenants/index.ts'
import { type Audit, type CallsOf, ok, page } from './call.ts'
import { isOperator } from './keys.ts'

const LIST_DEFAULT = 50
/** Documents that make a tenant one that has something: keys, default targets, settings. */
const DOCUMENT_KINDS = ['key', 'owner', 'tenant']
/** How many waiting deliveries per second are caught up with by default. */
export const CATCH_UP_PER_SECOND = 100

/** The calls about tenants. Only operators may call them for a tenant other than their own. */
export function tenantCalls(
  tenants: TenantRegistry,
  pauses: PauseControl,
  operator: Pick<Operator, 'tenants' | 'statsOf'>,
  audit: Audit,
) {
  const toWire = async (view: TenantView, stats?: StatsView) => {
    const party = { tenant: view.tenant }
    const paused = { paused: pauses.isPaused(party), catchingUp: pauses.isCatchingUp(party) }
    return wireText({ ...view, ...paused, stats: stats ?? (await operator.statsOf(view.tenant)) })
  }
  return {
    listTenants: async ({ query }, { caller }) => {
      assertOperator(caller)
      const { limit = LIST_DEFAULT, cursor = '' } = query
      const found = await operator.tenants({ after: cursor, limit, documentKinds: DOCUMENT_KINDS })
      const items = found.map(async ({ tenant, stats }) => toWire(await tenants.get(tenant), stats))
      return page(await Promise.all(items), found.length === limit ? found.at(-1)!.tenant : null)
    },

    getTenant: async ({ params }, { caller }) => {
      assertOwn(caller, params.tenant)
      return ok(await toWire(await tenants.get(params.tenant)))
    },

    putTenant: async ({ params, body }, { caller }) => {
      assertOperator(caller)
      const quotas = inField('quotas', () => checkedQuotas(body.quotas ?? {}))
      const owners = inField('ownerQuotas', () => checkedQuotas(body.owner_quotas ?? {}))
      const view = await tenants.putQuotas(params.tenant, quotas, owners)
      await pauses.limit(params.tenant, await tenants.quotasOf(params.tenant))
      await audit(caller, 'tenant_quotas_put', { tenant: params.tenant, quotas, owner_quotas: owners })
      return ok(await toWire(view))
    },

    pauseTenant: async ({ params }, { caller }) => {
      assertOperator(caller)
      await pauses.pause({ tenant: params.tenant })
      await audit(caller, 'tenant_paused', { tenant: params.tenant })
      return ok(await toWire(await tenants.get(params.tenant)))
    },

    resumeTenant: async ({ params, body }, { caller }) => {
      assertOperator(caller)
      const { per_second = CATCH_UP_PER_SECOND } = body
      await pauses.resume({ tenant: params.tenant }, per_second)
      await audit(caller, 'tenant_resumed', { tenant: params.tenant, per_second })
      return ok(await toWire(await tenants.get(params.tenant)))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

/** Throws unless the caller is an operator: one with a key for all tenants. */
export function assertOperator(caller: Caller): void {
  if (!isOperator(caller)) throw new WakefulError('access.operators_only', {})
}

/** Another tenant is answered like one that does not exist. */
function assertOwn(caller: Caller, tenant: string): void {
  if (!isOperator(caller) && caller.tenant !== tenant)
    throw new WakefulError('tenant.not_found', { name: JSON.stringify(tenant) })
}
