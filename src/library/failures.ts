import { type AlarmView, failureView, isFailedLate, type ReadScope, type Serial } from '../alarm/index.ts'
import { decodeCursor, encodeCursor } from '../log/index.ts'
import type { FailureItem, FailureQuery, Store } from '../stores/index.ts'
import type { ListPage } from './api.ts'

/** Of the events after a timeout, those among which the report on it is looked for. */
const LATE_EVENTS_MAX = 500
const LATE_FILTER = { types: ['alarm.failed', 'alarm.timed_out'] }

/** Reads a page of what failed or timed out, newest first. */
export async function failurePage(
  store: Store,
  scope: ReadScope,
  query: FailureQuery,
  cursor?: string,
): Promise<ListPage> {
  const after = cursor === undefined ? undefined : decodeCursor('failures', cursor)[0]
  const { items, next } = await store.failures(scope, { ...query, after })
  return {
    items: await viewsOf(store, scope, items),
    nextCursor: next === null ? null : encodeCursor('failures', [next]),
  }
}

/** Reads page by page, because pages with large alarms end early, until there are as many as requested. */
export async function allFailures(store: Store, scope: ReadScope, query: FailureQuery): Promise<AlarmView[]> {
  const found: AlarmView[] = []
  let after: Serial | null | undefined
  while (after !== null && found.length < query.limit) {
    const { items, next } = await store.failures(scope, {
      ...query,
      limit: query.limit - found.length,
      after,
    })
    found.push(...(await viewsOf(store, scope, items)))
    after = next
  }
  return found
}

/** The failures as users see them. */
async function viewsOf(store: Store, scope: ReadScope, items: readonly FailureItem[]): Promise<AlarmView[]> {
  const views: AlarmView[] = []
  for (const { snapshot, record } of items) {
    const { id: alarmId } = snapshot.alarm
    const query = { after: record.seq, limit: LATE_EVENTS_MAX, alarmId, filter: LATE_FILTER }
    const since = isFailedLate(snapshot, record) ? (await store.events(scope, query)).events : []
    views.push(failureView(snapshot, { ...record, since }))
  }
  return views
}
