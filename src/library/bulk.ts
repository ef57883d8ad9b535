import type { AlarmView } from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import type { Alarms, BulkOptions, BulkResult, ListOptions, ListPage } from './api.ts'

/** Alarms read at a time. */
const PAGE = 500
const MATCHED_MAX = 10_000
const REFUSED_LISTED_MAX = 100

type RefusedAlarm = BulkResult['refused'][number]

/** Does something to a page of alarms, and returns those that refused it. */
type ActOnPage = (items: readonly AlarmView[]) => Promise<RefusedAlarm[]>

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

/** Does one thing to every alarm that matches, page by page; with `dryRun` it only counts them. */
export async function actOnMatching(
  alarms: Pick<Alarms, 'list'>,
  filter: ListOptions,
  act: ActOnPage,
  { dryRun = false, signal }: BulkOptions & { readonly signal?: AbortSignal | undefined },
): Promise<BulkResult> {
  const refused: RefusedAlarm[] = []
  let [matched, done, more] = [0, 0, false]
  for await (const { items, nextCursor } of pagesOf(alarms, filter, MATCHED_MAX)) {
    if (signal?.aborted === true) break
    matched += items.length
    more = nextCursor !== null
    if (dryRun) continue
    const failures = await act(items)
    done += items.length - failures.length
    refused.push(...failures.slice(0, REFUSED_LISTED_MAX - refused.length))
  }
  return { matched, done, refused, more }
}

/** Does something to each alarm of a page, and collects the errors that are about one alarm. */
export function onEach(act: (id: string) => Promise<unknown>): ActOnPage {
  return async (items) => {
    const outcomes = await Promise.allSettled(items.map(({ id }) => act(id)))
    return outcomes.flatMap((outcome, at) => {
      if (outcome.status === 'fulfilled') return []
      const thrown: unknown = outcome.reason
      // If the store does not answer, the whole call fails, not one alarm.
      if (!(thrown instanceof WakefulError) || thrown.code === 'store_unavailable') throw thrown
      return { id: items[at]!.id, code: thrown.code, detail: errorText(thrown) }
    })
  }
}
