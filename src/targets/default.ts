import type { Scope, Target, TargetSpec } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { assertFields } from './fields.ts'
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
/** What is held is looked at again after this long, or as long as it has waited. */
const HELD_MS_MIN = 1_000
const HELD_MS_MAX = 60_000

/**
 * The owner's default target, whatever it is at the moment of the fire. Only then is it known whether an operator holds it:
 * the occurrence waits, uncounted, and is looked at again.
 */
export function defaultTarget(
  find: (scope: Scope) => Promise<Target | null>,
  deliver: (errand: Delivery) => Promise<DeliveryReceipt>,
  isHeld: (target: Target) => boolean,
): TargetKind {
  return {
    kind: 'default',
    parse(spec: TargetSpec) {
      if (typeof spec === 'string' || !('default' in spec)) return undefined
      assertFields(spec, ['default'], 'the owner’s default target')
      if (spec.default === true) return TARGET
      throw new WakefulError('target.form', { target: 'default', form: '{ default: true }' })
    },
    names: () => [],
    canRun: () => true,
    isTransactional: () => false,
    timeoutMs: () => TIMEOUT_MS,
    async deliver(errand: Delivery): Promise<DeliveryReceipt> {
      const target = await find(errand.alarm)
      if (target === null || target.kind === 'default')
        throw new DeliveryFailure('its owner has no default target any more: put one (PUT /v1/owner/target)')
      if (isHeld(target)) {
        const waitedMs = errand.firedAt - errand.timer.scheduledFor
        throw new Postponed(
          'an operator has paused the owner’s default target',
          Math.min(Math.max(waitedMs, HELD_MS_MIN), HELD_MS_MAX),
        )
      }
      return deliver(new Redirected(errand, target))
    },
  }
}

/** The same errand to another target. Its signal is made only where somebody looks at it. */
class Redirected implements Delivery {
  readonly alarm: Delivery['alarm']
  readonly #errand: Delivery

  constructor(errand: Delivery, target: Target) {
    this.#errand = errand
    this.alarm = { ...errand.alarm, target }
  }

  get timer() {
    return this.#errand.timer
  }

  get firedAt() {
    return this.#errand.firedAt
  }

  get signal() {
    return this.#errand.signal
  }

  get tx() {
    return this.#errand.tx
  }
}
