import type { Target } from '../../alarm/index.ts'
import { type OperationName, wireText } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { PauseControl } from '../tenants/index.ts'
import { type Audit, type CallsOf, ok } from './call.ts'
import { assertWholeTenant } from './keys.ts'
import { assertOperator, CATCH_UP_PER_SECOND } from './tenants.ts'

/** The calls about targets: their pauses, a tenant's default target, and the secret that webhooks are signed with. */
export function targetCalls(pauses: PauseControl, audit: Audit) {
  const toWire = (target: PausableTarget) => {
    const isCatchingUp = pauses.isCatchingUp({ target })
    return { ...pauseState(target, pauses.isPaused({ target })), catchingUp: isCatchingUp }
  }
  return {
    webhookSecret: async (_input, { caller }) => {
      assertWholeTenant(caller, 'secret')
      await audit(caller, 'webhook_secret_read', {})
      return ok(wireText(await caller.alarms.webhooks.secret()))
    },

    rotateWebhookSecret: async (_input, { caller }) => {
      assertWholeTenant(caller, 'secret')
      const secret = await caller.alarms.webhooks.rotateSecret()
      await audit(caller, 'webhook_secret_rotated', {})
      return ok(wireText(secret))
    },

    getTenantTarget: async (_input, { caller }) => {
      assertWholeTenant(caller, 'default target')
      const target = await caller.alarms.tenantDefaultTarget.get()
      if (target === null) throw new WakefulError('target.no_tenant_default', {})
      return ok(JSON.stringify({ target }))
    },

    putTenantTarget: async ({ body }, { caller }) => {
      assertWholeTenant(caller, 'default target')
      const target = await caller.alarms.tenantDefaultTarget.put(body.target)
      await audit(caller, 'tenant_target_put', { target })
      return ok(JSON.stringify({ target }))
    },

    removeTenantTarget: async (_input, { caller }) => {
      assertWholeTenant(caller, 'default target')
      const removed = await caller.alarms.tenantDefaultTarget.remove()
      await audit(caller, 'tenant_target_removed', {})
      return ok(JSON.stringify({ removed }))
    },

    listPausedTargets: (_input, { caller }) => {
      assertOperator(caller)
      return ok(wireText({ items: pauses.targets().map(toWire) }))
    },

    pauseTarget: async ({ body }, { caller }) => {
      assertOperator(caller)
      const target = targetOf(body)
      await pauses.pause({ target })
      await audit(caller, 'target_paused', pauseState(target, true))
      return ok(wireText(toWire(target)))
    },

    resumeTarget: async ({ body }, { caller }) => {
      assertOperator(caller)
      const { per_second = CATCH_UP_PER_SECOND } = body
      const target = targetOf(body)
      if (!(await pauses.resume({ target }, per_second)))
        throw new WakefulError('target.not_paused', { kind: target.kind, name: JSON.stringify(target.name) })
      await audit(caller, 'target_resumed', { ...pauseState(target, false), per_second })
      return ok(wireText(toWire(target)))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

type PausableTarget = Pick<Target, 'kind' | 'name'>

function targetOf({ target, kind }: { target: string; kind?: string | undefined }): PausableTarget {
  if (kind !== undefined) return { kind, name: target }
  // The URL is paused, however alarms spell it; it is shown normalized.
  if (/^https?:/i.test(target) && URL.canParse(target)) return { kind: 'webhook', name: new URL(target).href }
  return { kind: target === 'inbox' ? 'inbox' : 'handler', name: target }
}

function pauseState({ kind, name }: PausableTarget, isPaused: boolean) {
  return { target: name, kind, paused: isPaused }
}
