import { BUILT_IN_POOL, occurrenceId, type Scope, type Target } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Inbox } from '../stores/index.ts'
import { DeliveryFailure, INBOX, Postponed, type TargetKind } from './targets.ts'
import { wakeJson } from './wake-body.ts'

/** With more wakes than this the inbox is not being read: later ones wait and are attempted again. */
const WAKES_MAX = 10_000
/** A paused occurrence is checked again after as long as it has waited, within these bounds. */
const PAUSED_MS_MIN = 1_000
const PAUSED_MS_MAX = 60_000

/** A kind that has one target, which is written as `{ inbox: true }`. */
function onlyTarget(kind: string, deliver: TargetKind['deliver']): TargetKind {
  const target: Target = { kind, name: kind, pool: BUILT_IN_POOL }
  return {
    kind,
    fields: [kind],
    parse(spec) {
      if (spec[kind] === true) return target
      throw new WakefulError('target.form', { target: kind })
    },
    deliver,
  }
}

/**
 * The event log itself: the fire is its record, written as the timer moves, so that nothing can be lost between
 * publishing and marking. The engine settles it without a delivery.
 */
export const eventTarget = onlyTarget('event', async () => ({
  report: null,
}))

/** The inbox: wakes lie ready for an agent that cannot be called. Being put there is being delivered. */
export function inboxTarget(inbox: Pick<Inbox, 'putWake' | 'removeWake'>): TargetKind {
  return onlyTarget(INBOX, async (delivery) => {
    const { alarm, timer, firedAt } = delivery
    const { tenant, owner } = alarm
    const id = occurrenceId(alarm, timer)
    // The previous attempt's wake may still be there. This one is newer, and must be seen even if that one was read.
    if (timer.attempt > 0) await inbox.removeWake({ tenant, owner }, id)
    await inbox.putWake(
      { tenant, owner, alarmId: alarm.id, occurrenceId: id, arrivedAt: firedAt, body: wakeJson(delivery) },
      WAKES_MAX,
    )
    return { report: null }
  })
}

/**
 * The owner's default target, looked up when the alarm fires. Only then is it known whether an operator has paused it: the
 * occurrence then waits, uncounted, and is checked again.
 */
export function defaultTarget(
  find: (scope: Scope) => Promise<Target | null>,
  deliver: TargetKind['deliver'],
  isPaused: (target: Target) => boolean,
): TargetKind {
  return onlyTarget('default', async (delivery) => {
    const { alarm, timer, firedAt, tx } = delivery
    const target = await find(alarm)
    if (target === null || target.kind === 'default')
      throw new DeliveryFailure('its owner has no default target any more: put one (PUT /v1/owner/target)')
    if (isPaused(target)) {
      const waitedMs = firedAt - timer.scheduledFor
      throw new Postponed(
        'an operator has paused the owner’s default target',
        Math.min(Math.max(waitedMs, PAUSED_MS_MIN), PAUSED_MS_MAX),
      )
    }
    return deliver({
      alarm: { ...alarm, target },
      timer,
      firedAt,
      tx,
      // Created only when it is read.
      get signal() {
        return delivery.signal
      },
    })
  })
}
