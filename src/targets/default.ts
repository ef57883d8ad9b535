import type { Scope, Target } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { BUILT_IN_POOL } from './pools.ts'
import {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  Postponed,
  type TargetKind,
} from './target-kind.ts'

const TARGET: Target = { kind: 'default', name: 'default', pool: BUILT_IN_POOL }
const TIMEOUT_MS = 30_000
/** A paused occurrence is checked again after as long as it has waited, within these bounds. */
const PAUSED_MS_MIN = 1_000
const PAUSED_MS_MAX = 60_000

/**
 * The owner's default target, looked up when the alarm fires. Only then is it known whether an operator has paused it: the
 * occurrence then waits, uncounted, and is checked again.
 */
export function defaultTarget(
  find: (scope: Scope) => Promise<Target | null>,
  deliver: (delivery: Delivery) => Promise<DeliveryReceipt>,
  isPaused: (target: Target) => boolean,
): TargetKind {
  return {
    kind: 'default',
    title: 'the owner’s default target',
    fields: ['default'],
    parse(spec) {
      if (spec.default === true) return TARGET
      throw new WakefulError('target.form', { target: 'default', form: '{ default: true }' })
    },
    names: () => [],
    canRun: () => true,
    isTransactional: () => false,
    timeoutMs: () => TIMEOUT_MS,
    async deliver(delivery: Delivery): Promise<DeliveryReceipt> {
      const target = await find(delivery.alarm)
      if (target === null || target.kind === 'default')
        throw new DeliveryFailure('its owner has no default target any more: put one (PUT /v1/owner/target)')
      if (isPaused(target)) {
        const waitedMs = delivery.firedAt - delivery.timer.scheduledFor
        throw new Postponed(
          'an operator has paused the owner’s default target',
          Math.min(Math.max(waitedMs, PAUSED_MS_MIN), PAUSED_MS_MAX),
        )
      }
      return deliver(new Redirected(delivery, target))
    },
  }
}

/** The same delivery to another target. Its signal is created only when it is read. */
class Redirected implements Delivery {
  readonly alarm: Delivery['alarm']
  readonly #delivery: Delivery

  constructor(delivery: Delivery, target: Target) {
    this.#delivery = delivery
    this.alarm = { ...delivery.alarm, target }
  }

  get timer() {
    return this.#delivery.timer
  }

  get firedAt() {
    return this.#delivery.firedAt
  }

  get signal() {
    return this.#delivery.signal
  }

  get tx() {
    return this.#delivery.tx
  }
}
