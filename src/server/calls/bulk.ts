import { type AlarmView, type Status, wireJson } from '../../alarm/index.ts'
import { type ACTIONS, withFields } from '../../contracts/index.ts'
import { errorText, WakefulError } from '../../error.ts'
import type { ListOptions, ListPage } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import type { QuotaGuard } from '../tenants/index.ts'

/** Alarms looked at in one go: what else runs gets its turn in between. */
const PAGE = 500
const MATCHED_MAX = 10_000
const REFUSED_TOLD_MAX = 100

/** Which alarms, as they are named on the wire. */
interface Filter {
  readonly status?: Status | 'pending' | undefined
  readonly label?: string | undefined
  readonly subject?: string | undefined
  readonly correlation_id?: string | undefined
  readonly conversation_id?: string | undefined
  readonly target?: string | undefined
  readonly q?: string | undefined
  readonly since?: string | undefined
}

type Action = (typeof ACTIONS)[number]

interface Refused {
  readonly id: string
  readonly code: string
  readonly detail: string
}

/** A filter in the library's words. */
export function listOptions(filter: Filter): ListOptions {
  const { status, label, subject, correlation_id, conversation_id, target, q, since } = filter
  return {
    ...(status !== undefined && { status }),
    ...(label !== undefined && { label }),
    ...(subject !== undefined && { subject }),
    ...(correlation_id !== undefined && { correlationId: correlation_id }),
    ...(conversation_id !== undefined && { conversationId: conversation_id }),
    ...(target !== undefined && { target }),
    ...(q !== undefined && { q }),
    ...(since !== undefined && { since }),
  }
}

/** A page as JSON, its alarms as they are on the wire. */
export function pageJson({ items, nextCursor }: ListPage): string {
  return withFields(`{"items":[${items.map(wireJson).join(',')}]}`, { next_cursor: nextCursor })
}

/** Does one thing to every alarm that matches, page by page; with `dry_run` it only counts them. */
export async function actOnMany(
  caller: Caller,
  quotas: QuotaGuard,
  order: { readonly action: Action; readonly filter: Filter; readonly dry_run?: boolean | undefined },
  signal?: AbortSignal,
) {
  const filter = listOptions(order.filter)
  const refused: Refused[] = []
  let [matched, done] = [0, 0]
  let cursor: string | null | undefined
  while (cursor !== null && matched < MATCHED_MAX && signal?.aborted !== true) {
    const limit = Math.min(PAGE, MATCHED_MAX - matched)
    const page = await caller.alarms.list({ ...filter, limit, ...(cursor !== undefined && { cursor }) })
    matched += page.items.length
    if (order.dry_run !== true) {
      const failures = await doTo(caller, quotas, order.action, page.items)
      done += page.items.length - failures.length
      refused.push(...failures.slice(0, REFUSED_TOLD_MAX - refused.length))
    }
    cursor = page.nextCursor
  }
  return { matched, done, refused, more: cursor !== null }
}

async function doTo(
  caller: Caller,
  quotas: QuotaGuard,
  action: Action,
  items: readonly AlarmView[],
): Promise<Refused[]> {
  const { alarms } = caller
  if (action === 'cancel') {
    await alarms.cancelMany(items.map(({ id }) => id))
    return []
  }
  const one = {
    pause: (id: string) => alarms.pause(id),
    resume: (id: string) => alarms.resume(id),
    skip: (id: string) => alarms.skipNext(id),
    fire: (id: string) => quotas.within(caller, [{ does: 'fire', id }], () => alarms.fireNow(id)),
    retry: (id: string) => quotas.within(caller, [{ does: 'retry', id }], () => alarms.retry(id)),
  }[action]
  const outcomes = await Promise.allSettled(items.map(({ id }) => one(id)))
  return outcomes.flatMap((outcome, at) => {
    if (outcome.status === 'fulfilled') return []
    const thrown: unknown = outcome.reason
    // A store that does not answer is no matter of this one alarm.
    if (!(thrown instanceof WakefulError) || thrown.code === 'store_unavailable') throw thrown
    return { id: items[at]!.id, code: thrown.code, detail: errorText(thrown) }
  })
}
