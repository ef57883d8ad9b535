import type { Scope } from '../../../alarm/index.ts'
import {
  type InboxWake,
  inboxFull,
  type NewWake,
  PageLimit,
  type WakeRequest,
  wakeOf,
  wakeValues,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'

const WAKE = 'tenant, owner, occurrence, alarm, arrived_at, body, tries'

/** The statements about inboxes. Rows that were handed out are skipped one by one: an owner has a few thousand at most. */
export const INBOX_QUERIES = {
  known: 'SELECT 1 FROM wakeful_inbox WHERE tenant = ? AND owner = ? AND occurrence = ?',
  count: 'SELECT count(*) AS n FROM wakeful_inbox WHERE tenant = ? AND owner = ?',
  countAll: 'SELECT count(*) AS n FROM (SELECT 1 FROM wakeful_inbox LIMIT ?)',
  put: `INSERT INTO wakeful_inbox (${WAKE}, claimed_until) VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING`,
  available: `SELECT seq, octet_length(body) AS bytes FROM wakeful_inbox WHERE tenant = ? AND owner = ? AND claimed_until <= ?
    ORDER BY arrived_at, seq LIMIT ?`,
  claim: `UPDATE wakeful_inbox SET claimed_until = ?, tries = tries + 1 WHERE seq = ? RETURNING seq, ${WAKE}`,
  remove: `DELETE FROM wakeful_inbox WHERE tenant = ? AND owner = ? AND occurrence = ?
    AND tries BETWEEN ? AND ? RETURNING seq, ${WAKE}`,
  prune: `DELETE FROM wakeful_inbox WHERE seq IN (
    SELECT seq FROM wakeful_inbox WHERE arrived_at < ? ORDER BY arrived_at LIMIT ?)`,
  all: `SELECT seq, ${WAKE} FROM wakeful_inbox WHERE seq > ? ORDER BY seq LIMIT ?`,
} as const

/** Writes a wake, unless it exists; refused if its owner has as many as allowed. */
export function putWake(session: Session, wake: NewWake, max: number): void {
  const { tenant, owner, occurrenceId } = wake
  if (session.get(INBOX_QUERIES.known, tenant, owner, occurrenceId) !== undefined) return
  if (session.get<{ n: number }>(INBOX_QUERIES.count, tenant, owner)!.n >= max) throw inboxFull(wake, max)
  insertWake(session, { ...wake, tries: 0 })
}

/** Writes a wake; false if it exists. */
export function insertWake(session: Session, wake: InboxWake): boolean {
  return session.run(INBOX_QUERIES.put, ...wakeValues(wake)).changes > 0
}

/** The wakes that can be handed out now, oldest first. Writes nothing. */
export function availableWakes(session: Session, { tenant, owner }: Scope, request: WakeRequest): number[] {
  const { now, limit } = request
  const page = new PageLimit(limit)
  const rows = session.all<{ seq: number; bytes: number }>(INBOX_QUERIES.available, tenant, owner, now, limit)
  return rows.filter(({ bytes }) => page.add(bytes)).map(({ seq }) => seq)
}

/** Hands out the oldest available wakes. */
export function claimWakes(session: Session, scope: Scope, request: WakeRequest): InboxWake[] {
  const until = request.now + request.holdMs
  const available = availableWakes(session, scope, request)
  return available.map((seq) => wakeOf(session.value(INBOX_QUERIES.claim, until, seq)!))
}
