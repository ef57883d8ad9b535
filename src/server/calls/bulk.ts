import { type AlarmView, readFilters } from '../../alarm/index.ts'
import type { Input, operations } from '../../contracts/index.ts'
import { aboutField, errorText, WakefulError } from '../../error.ts'
import {
  type AlarmRef,
  type Alarms,
  type ListOptions,
  type ListPage,
  type SeenOptions,
  withoutUndefined,
} from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import type { QuotaGuard } from '../limits/index.ts'
import { page, type Reply } from './call.ts'

/** Alarms read at a time. */
const PAGE = 500
const MATCHED_MAX = 10_000
const REFUSED_LISTED_MAX = 100

type Order = Input<(typeof operations)['act']>['body']

type Action = Order['action']

/** An action on one alarm that returns the alarm. */
export type SingleAction = Exclude<Action, 'cancel'>

interface Refused {
  readonly id: string
  readonly code: string
  readonly detail: string
}

/** A filter with the library's names. */
export function listOptions(filter: Order['filter']): ListOptions {
  const { status, target, q, since } = filter
  return withoutUndefined({ ...readFilters(filter), status, target, q, since })
}

/** An answer with a page of alarms. */
export function pageOf({ items, nextCursor }: ListPage, json: (alarm: AlarmView) => string): Reply {
  return page(items.map(json), nextCursor)
}

/** The pages of a list, up to a number of alarms. */
export async function* pagesOf(
  alarms: Pick<Alarms, 'list'>,
  options: ListOptions,
  max: number,
): AsyncGenerator<ListPage> {
  let found = 0
  let next: { cursor?: string } | null = {}
  while (next !== null && found < max) {
    const page: ListPage = await alarms.list({ ...options, ...next, limit: Math.min(PAGE, max - found) })
    yield page
    found += page.items.length
    next = page.nextCursor === null ? null : { cursor: page.nextCursor }
  }
}

/** Does one thing to every alarm that matches, page by page; with `dry_run` it only counts them. */
export async function actOnMany(caller: Caller, quotas: QuotaGuard, order: Order, signal?: AbortSignal) {
  const filter = listOptions(order.filter)
  const refused: Refused[] = []
  let [matched, done, more] = [0, 0, false]
  const list = (options?: ListOptions) => caller.alarms.list(options).catch(refuseFilter)
  for await (const { items, nextCursor } of pagesOf({ list }, filter, MATCHED_MAX)) {
    if (signal?.aborted === true) break
    matched += items.length
    more = nextCursor !== null
    if (order.dry_run === true) continue
    const failures = await actOn(caller, quotas, order.action, items)
    done += items.length - failures.length
    refused.push(...failures.slice(0, REFUSED_LISTED_MAX - refused.length))
  }
  return { matched, done, refused, more }
}

/** Throws an error about a field of a list as one about that field of the call's `filter`. */
function refuseFilter(thrown: unknown): never {
  if (thrown instanceof WakefulError && thrown.field !== undefined) throw aboutField('filter', thrown)
  throw thrown
}

async function actOn(
  caller: Caller,
  quotas: QuotaGuard,
  action: Action,
  items: readonly AlarmView[],
): Promise<Refused[]> {
  if (action === 'cancel') {
    await caller.alarms.cancelMany(items.map(({ id }) => id))
    return []
  }
  const outcomes = await Promise.allSettled(items.map(({ id }) => actOnOne(caller, quotas, action, id)))
  return outcomes.flatMap((outcome, at) => {
    if (outcome.status === 'fulfilled') return []
    const thrown: unknown = outcome.reason
    // If the store does not answer, the whole call fails, not one alarm.
    if (!(thrown instanceof WakefulError) || thrown.code === 'store_unavailable') throw thrown
    return { id: items[at]!.id, code: thrown.code, detail: errorText(thrown) }
  })
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
