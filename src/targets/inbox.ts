import { occurrenceId, type Scope, type Target } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { BUILT_IN_POOL } from './pools.ts'
import type { Delivery, DeliveryReceipt, TargetKind } from './target-kind.ts'
import { wakeJson } from './wake-body.ts'

/** The name of the kind, and by itself a target; no handler may have this name. */
export const INBOX = 'inbox'

const TARGET: Target = { kind: INBOX, name: INBOX, pool: BUILT_IN_POOL }
/** With more wakes than this the inbox is not being read: later ones wait and are attempted again. */
const WAKES_MAX = 10_000
const TIMEOUT_MS = 30_000

/** Where wakes are put: a store's part. */
export interface Inboxes {
  putWake(
    wake: {
      tenant: string
      owner: string
      occurrenceId: string
      alarmId: string
      arrivedAt: number
      body: string
    },
    max: number,
  ): Promise<void>
  removeWake(scope: Scope, occurrenceId: string): Promise<unknown>
}

/** The inbox: wakes lie ready for an agent that cannot be called. Being put there is being delivered. */
export function inboxTarget(inboxes: Inboxes): TargetKind {
  return {
    kind: INBOX,
    title: 'the inbox',
    fields: [INBOX],
    parse(spec) {
      if (spec.inbox === true) return TARGET
      throw new WakefulError('target.form', { target: 'inbox', form: "'inbox' or { inbox: true }" })
    },
    names: () => [],
    canRun: () => true,
    isTransactional: () => false,
    timeoutMs: () => TIMEOUT_MS,
    async deliver(delivery: Delivery): Promise<DeliveryReceipt> {
      const { alarm, timer, firedAt } = delivery
      const { tenant, owner, id: alarmId } = alarm
      const body = wakeJson({ alarm, timer, firedAt })
      const wake = {
        tenant,
        owner,
        alarmId,
        occurrenceId: occurrenceId(alarm, timer),
        arrivedAt: firedAt,
        body,
      }
      // The previous attempt's wake may still be there. This one is newer, and must be seen even if that one was read.
      if (timer.attempt > 0) await inboxes.removeWake({ tenant, owner }, wake.occurrenceId)
      await inboxes.putWake(wake, WAKES_MAX)
      return { report: null }
    },
  }
}
