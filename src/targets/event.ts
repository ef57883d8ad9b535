import type { Target } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { BUILT_IN_POOL } from './pools.ts'
import type { TargetKind } from './target-kind.ts'

const TARGET: Target = { kind: 'event', name: 'event', pool: BUILT_IN_POOL }

/**
 * The event log itself: the fire is its record, written as the timer moves, so that nothing can be lost between
 * publishing and marking. The engine settles it without a delivery.
 */
export const eventTarget: TargetKind = {
  kind: 'event',
  title: 'the event target',
  fields: ['event'],
  parse(spec) {
    if (spec.event === true) return TARGET
    throw new WakefulError('target.form', { target: 'event', form: '{ event: true }' })
  },
  names: () => [],
  canRun: () => true,
  isTransactional: () => false,
  timeoutMs: () => 1_000,
  deliver: async () => ({ report: null }),
}
