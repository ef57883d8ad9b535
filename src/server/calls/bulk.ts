import { type AlarmView, readFilters, wireJson } from '../../alarm/index.ts'
import type { Input, operations } from '../../contracts/index.ts'
import { aboutField, WakefulError } from '../../error.ts'
import {
  type AlarmRef,
  actOnMatching,
  type ListOptions,
  type ListPage,
  onEach,
  type SeenOptions,
  withoutUndefined,
} from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import type { QuotaGuard } from '../limits/index.ts'
import { page, type Reply } from './call.ts'

type Order = Input<(typeof operations)['act']>['body']

type Action = Order['action']

/** An action on one alarm that returns the alarm. */
export type SingleAction = Exclude<Action, 'cancel'>

/** A filter with the library's names. */
export function listOptions(filter: Order['filter']): ListOptions {
  const { status, target, q, since } = filter
  return withoutUndefined({ ...readFilters(filter), status, target, q, since })
}

/** An answer with a page of alarms. */
export function pageOf({ items, nextCursor }: ListPage): Reply {
  return page(items.map(wireJson), nextCursor)
}

/** Does one thing to every alarm that matches; with `dry_run` it only counts them. */
export function actOnMany(caller: Caller, quotas: QuotaGuard, order: Order, signal?: AbortSignal) {
  const { action, filter, dry_run: dryRun = false } = order
  const { alarms } = caller
  const list = (options?: ListOptions) => alarms.list(options).catch(refuseFilter)
  const act =
    action === 'cancel'
      ? async (items: readonly AlarmView[]) => {
          await alarms.cancelMany(items.map(({ id }) => id))
          return []
        }
      : onEach((id) => actOnOne(caller, quotas, action, id))
  return actOnMatching({ list }, listOptions(filter), act, { dryRun, signal })
}

/** Throws an error about a field of a list as one about that field of the call's `filter`. */
function refuseFilter(thrown: unknown): never {
  if (thrown instanceof WakefulError && thrown.field !== undefined) throw aboutField('filter', thrown)
  throw thrown
}

/** Does one thing to an alarm, within the quotas. */
export function actOnOne(
  caller: Caller,
  quotas: QuotaGuard,
  action: SingleAction,
  ref: AlarmRef,
  seen: SeenOptions = {},
): Promise<AlarmView> {
  const { alarms } = caller
  switch (action) {
    case 'pause':
      return alarms.pause(ref, seen)
    case 'resume':
      return alarms.resume(ref, seen)
    case 'skip':
      return alarms.skipNext(ref, seen)
    case 'fire':
      return quotas.within(caller, [{ does: 'fire', ref }], () => alarms.fireNow(ref, seen))
    case 'retry':
      return quotas.within(caller, [{ does: 'retry', ref }], () => alarms.retry(ref, seen))
  }
}
