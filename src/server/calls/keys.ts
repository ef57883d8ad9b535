import { type OperationName, wireText, withFields } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type Clock, durationOf } from '../../time/index.ts'
import {
  ALL_TENANTS,
  type Caller,
  includes,
  type KeyRegistry,
  type KeyView,
  type TicketStore,
} from '../auth/index.ts'
import { type Audit, type CallsOf, ok, page } from './call.ts'

const LIST_DEFAULT = 50
/** Keys read at a time. */
const PAGE = 500

/** The calls about keys and tickets. An admin of a tenant creates and revokes keys of this tenant only. */
export function keyCalls(keys: KeyRegistry, tickets: TicketStore, clock: Clock, audit: Audit) {
  const own = async (caller: Caller, id: string): Promise<KeyView> => {
    const key = await keys.get(id)
    if (key !== null && mayManage(caller, key)) return key
    throw new WakefulError('key.not_found', { id: JSON.stringify(id) })
  }
  return {
    createTicket: async (_input, { caller }) => ({
      status: 201,
      json: wireText(await tickets.issue(caller)),
    }),

    createKey: async ({ body }, { caller }) => {
      const { tenant = caller.tenant, owner, rights = 'write', label = '', expires_in } = body
      const wanted = { tenant, owner: owner ?? caller.key?.owner ?? null }
      if (!mayManage(caller, wanted)) throw new WakefulError('access.keys_of_others', {})
      if (!includes(caller.rights, rights)) throw new WakefulError('access.rights_not_grantable', { rights })
      const expiresAt = expires_in === undefined ? null : clock.now() + durationOf('expiresIn', expires_in)
      const made = await keys.create({ ...wanted, rights, label, createdBy: caller.keyId, expiresAt })
      await audit(caller, 'key_created', { key: made.view.id, ...wanted, rights })
      return { status: 201, json: withFields(wireText(made.view), { key: made.key }) }
    },

    listKeys: async ({ query }, { caller }) => {
      const { limit = LIST_DEFAULT, cursor = '' } = query
      const found = await ownKeys(keys, caller, cursor, limit)
      return page(found.map(wireText), found.length === limit ? found.at(-1)!.id : null)
    },

    rotateKey: async ({ params, body }, { caller }) => {
      const { tenant } = await own(caller, params.id)
      const graceMs = body.grace === undefined ? 0 : durationOf('grace', body.grace)
      const made = await keys.rotate(params.id, tenant, graceMs)
      await audit(caller, 'key_rotated', { key: params.id, tenant, grace_ms: graceMs })
      return ok(withFields(wireText(made.view), { key: made.key }))
    },

    revokeKey: async ({ params }, { caller }) => {
      const { tenant } = await own(caller, params.id)
      const view = await keys.revoke(params.id, tenant)
      await audit(caller, 'key_revoked', { key: params.id, tenant })
      return ok(wireText(view))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

/** A page of the keys the caller may see. Other keys are skipped, so that not even a cursor reveals them. */
async function ownKeys(keys: KeyRegistry, caller: Caller, cursor: string, limit: number): Promise<KeyView[]> {
  const tenant = isOperator(caller) ? null : caller.tenant
  const found: KeyView[] = []
  let after = cursor
  for (;;) {
    const listed = await keys.list(tenant, after, PAGE)
    found.push(...listed.filter((key) => mayManage(caller, key)))
    if (listed.length < PAGE || found.length >= limit) return found.slice(0, limit)
    after = listed.at(-1)!.id
  }
}

/** Whether the caller may act on all tenants. */
export function isOperator({ key }: Caller): boolean {
  return key === null || (key.tenant === ALL_TENANTS && key.owner === null)
}

function mayManage(caller: Caller, key: Pick<KeyView, 'tenant' | 'owner'>): boolean {
  if (isOperator(caller)) return true
  const mine = caller.key!
  if (mine.tenant !== ALL_TENANTS && mine.tenant !== key.tenant) return false
  return mine.owner === null || mine.owner === key.owner
}

/** Throws unless the caller may act for its whole tenant: an admin of one owner could act on others with what they share. */
export function assertWholeTenant({ key }: Caller, what: string): void {
  if (key !== null && key.owner !== null) throw new WakefulError('access.whole_tenant', { what })
}
