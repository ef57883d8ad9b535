import { type AlarmView, failureView, type ReadScope, type Serial } from '../alarm/index.ts'
import { decodeCursor, encodeCursor } from '../log/index.ts'
import type { FailureQuery, Store } from '../stores/index.ts'
import type { ListPage } from './api.ts'

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
    items: items.map(({ snapshot, record }) => failureView(snapshot, record)),
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
    found.push(...items.map(({ snapshot, record }) => failureView(snapshot, record)))
    after = next
  }
  return found
}
