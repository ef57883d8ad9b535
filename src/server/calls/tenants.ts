import { type OperationName, wireText } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type Audit, actOf, type Caller } from '../auth/index.ts'
import { checkedQuotas, type PauseControl, type TenantRegistry, type TenantView } from '../tenants/index.ts'
import { type CallsOf, ok } from './call.ts'
import { isOperator } from './keys.ts'

const LIST_DEFAULT = 50
/** How fast what waited is caught up with where nothing is said. */
export const CATCH_UP_PER_SECOND = 100

/** The calls about tenants. What concerns others than the caller's own tenant is for operators. */
export function tenantCalls(book: TenantRegistry, holds: PauseControl, audit: Audit) {
  const shown = (view: TenantView) => {
    const party = { tenant: view.tenant }
    return wireText({ ...view, paused: holds.isPaused(party), catchingUp: holds.isCatchingUp(party) })
  }
  return {
    listTenants: async ({ query }, { caller }) => {
      assertOperator(caller)
      const { limit = LIST_DEFAULT, cursor = '' } = query
      const page = await book.list(cursor, limit)
      const next = page.length === limit ? page.at(-1)!.tenant : null
      return ok(`{"items":[${page.map(shown).join(',')}],"next_cursor":${JSON.stringify(next)}}`)
    },

    getTenant: async ({ params }, { caller }) => {
      assertOwn(caller, params.tenant)
      return ok(shown(await book.get(params.tenant)))
    },

    putTenant: async ({ params, body }, { caller }) => {
      assertOperator(caller)
      const [quotas, owners] = [checkedQuotas(body.quotas ?? {}), checkedQuotas(body.owner_quotas ?? {})]
      const view = await book.putQuotas(params.tenant, quotas, owners)
      await holds.limit(params.tenant, await book.quotasOf(params.tenant))
      await audit(actOf(caller, 'tenant_quotas_put', { tenant: params.tenant, quotas, owner_quotas: owners }))
      return ok(shown(view))
    },

    pauseTenant: async ({ params }, { caller }) => {
      assertOperator(caller)
      await holds.pause({ tenant: params.tenant })
      await audit(actOf(caller, 'tenant_paused', { tenant: params.tenant }))
      return ok(shown(await book.get(params.tenant)))
    },

    resumeTenant: async ({ params, body }, { caller }) => {
      assertOperator(caller)
      const { per_second = CATCH_UP_PER_SECOND } = body
      await holds.resume({ tenant: params.tenant }, per_second)
      await audit(actOf(caller, 'tenant_resumed', { tenant: params.tenant, per_second }))
      return ok(shown(await book.get(params.tenant)))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

/** Refuses what is for operators: those whose key is for every tenant. */
export function assertOperator(caller: Caller): void {
  if (!isOperator(caller))
    throw new WakefulError('forbidden', "this is for operators: it needs an admin key of every tenant ('*')")
}

/** Another's tenant is answered like one that nobody has. */
function assertOwn(caller: Caller, tenant: string): void {
  if (!isOperator(caller) && caller.tenant !== tenant)
    throw new WakefulError('not_found', `there is no tenant ${JSON.stringify(tenant)}`)
}
