import { LAST_SERIAL, type ReadScope, type Serial } from '../../../alarm/index.ts'
import {
  bytesOf,
  CorruptRow,
  type FailureItem,
  type FailurePage,
  type FailureQuery,
  failureOf,
  isWanted,
  PageLimit,
  ROWS_READ_MAX,
  STRIDE_MIN,
  type StoredSnapshot,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { alarmAt, snapshotOf } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { turnCounter } from './list.ts'

/** Reads a page of failures with their alarms, step by step; after each step the caller yields to the event loop. */
export function* failures(
  session: Session,
  scope: ReadScope,
  query: FailureQuery,
): Generator<void, FailurePage> {
  const { kinds, target, since = Number.NEGATIVE_INFINITY, limit } = query
  const stride = Math.max(STRIDE_MIN, limit + 1)
  const page = new PageLimit(limit)
  const mustYield = turnCounter()
  const items: FailureItem[] = []
  let below = query.after ?? LAST_SERIAL
  for (let readRows = 0; readRows < ROWS_READ_MAX; readRows += stride) {
    const records = rowsOf(session, scope, below, stride).map(failureOf)
    for (const { alarm, ...record } of records) {
      // An alarm is set before it fails, so everything from here on is older.
      if (record.at < since) return { items, next: null }
      const mayMatch = kinds === undefined || kinds.includes(record.failure)
      const snapshot = mayMatch ? readOf(session, alarm, target) : null
      const bytes = snapshot === null ? 0 : bytesOf(snapshot)
      if (snapshot !== null && isWanted({ record, snapshot }, query)) {
        if (!page.add(bytes)) return { items, next: below }
        items.push({ record, snapshot })
      }
      below = record.seq
      if (mustYield(bytes)) yield
    }
    if (records.length < stride) return { items, next: null }
  }
  return { items, next: below }
}

function rowsOf(session: Session, { tenant, owner }: ReadScope, below: Serial, limit: number) {
  if (tenant === null) return session.values(sql.failuresOfAll, below, limit)
  if (owner === null) return session.values(sql.failuresOfTenant, tenant, below, limit)
  return session.values(sql.failuresOfOwner, tenant, owner, below, limit)
}

/** The alarm of a failure; null if it has another target, or if its row cannot be read. */
function readOf(session: Session, seq: Serial, target: string | undefined): StoredSnapshot | null {
  if (target !== undefined && session.get<{ target: string }>(sql.alarmSummary, seq)?.target !== target)
    return null
  try {
    const alarm = alarmAt(session, seq)
    return alarm === undefined ? null : snapshotOf(session, alarm)
  } catch (thrown) {
    if (thrown instanceof CorruptRow) return null
    throw thrown
  }
}
