import { LAST_SERIAL, type ReadScope, type Serial } from '../../../alarm/index.ts'
import {
  bytesOf,
  type FailureItem,
  type FailurePage,
  type FailureQuery,
  failureOf,
  isWanted,
  type ListQuery,
  PageLimit,
  ROWS_READ_MAX,
  STRIDE_MIN,
  type StoredSnapshot,
  summaryMatches,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { readBriefs, readWhole } from './list.ts'

/** Reads a page of failures with their alarms, in a session with one snapshot. Alarms that cannot be read are left out. */
export async function failures(
  session: Session,
  scope: ReadScope,
  query: FailureQuery,
): Promise<FailurePage> {
  const { kinds, target, since = Number.NEGATIVE_INFINITY, limit } = query
  const stride = Math.max(STRIDE_MIN, limit + 1)
  const page = new PageLimit(limit)
  const ofAlarms: ListQuery = { order: 'newest', limit, target }
  const items: FailureItem[] = []
  let below = query.after ?? LAST_SERIAL
  for (let looked = 0; looked < ROWS_READ_MAX; looked += stride) {
    const records = (await rowsOf(session, scope, below, stride)).map(failureOf)
    const wanted = records.filter(({ failure }) => kinds === undefined || kinds.includes(failure))
    const seqs = [...new Set(wanted.map(({ alarm }) => alarm))]
    const briefs = await readBriefs(session, seqs, ofAlarms)
    const whole = readWhole(session, seqs, briefs, ofAlarms)
    const found = new Map<Serial, StoredSnapshot>()
    for (const { alarm, ...record } of records) {
      // An alarm is set before it fails, so everything from here on is older.
      if (record.at < since) return { items, next: null }
      const brief = briefs.get(alarm)
      const mayMatch = brief !== undefined && summaryMatches(brief, ofAlarms)
      while (mayMatch && !found.has(alarm)) {
        const { value, done } = await whole.next()
        if (done) break
        for (const [seq, snapshot] of value) found.set(seq, snapshot)
      }
      const snapshot = found.get(alarm)
      if (snapshot !== undefined && isWanted({ record, snapshot }, query)) {
        if (!page.add(bytesOf(snapshot))) return { items, next: below }
        items.push({ record, snapshot })
      }
      below = record.seq
    }
    if (records.length < stride) return { items, next: null }
  }
  return { items, next: below }
}

function rowsOf(session: Session, { tenant, owner }: ReadScope, below: Serial, limit: number) {
  if (tenant === null) return session.rows(sql.failuresOfAll, below, limit)
  if (owner === null) return session.rows(sql.failuresOfTenant, tenant, below, limit)
  return session.rows(sql.failuresOfOwner, tenant, owner, below, limit)
}
