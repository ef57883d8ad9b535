import { bySerial, type Scope, type Serial } from '../../../alarm/index.ts'
import {
  type InboxWake,
  inboxFull,
  type NewWake,
  PAGE_BYTES_MAX,
  type Values,
  type WakeRequest,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'

const WAKE = 'tenant, owner, occurrence, alarm, arrived_at, body, tries'
const WAKE_OF_ROW = WAKE.replaceAll(/\w+/g, 'i.$&')

/**
 * The statements about inboxes. Rows that were handed out are skipped one by one: an owner has a few thousand at
 * most.
 */
export const INBOX_QUERIES = {
  known: 'SELECT 1 FROM wakeful.inbox WHERE tenant = $1 AND owner = $2 AND occurrence = $3',
  waiting: 'SELECT count(*) FROM (SELECT FROM wakeful.inbox LIMIT $1::bigint) n',
  put: `INSERT INTO wakeful.inbox (${WAKE}, claimed_until) SELECT $1, $2, $3, $4, $5::bigint, $6, 0, 0
    WHERE $7::bigint > (SELECT count(*) FROM (SELECT FROM wakeful.inbox WHERE tenant = $1 AND owner = $2 LIMIT $7::bigint) n)
    ON CONFLICT DO NOTHING`,
  claim: `WITH free AS (
      SELECT seq, octet_length(body) AS bytes FROM wakeful.inbox
      WHERE tenant = $1 AND owner = $2 AND claimed_until <= $3::bigint
      ORDER BY arrived_at, seq LIMIT $5::bigint FOR UPDATE SKIP LOCKED),
    page AS (SELECT seq, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) - bytes AS before FROM free)
    UPDATE wakeful.inbox i SET claimed_until = $3::bigint + $4::bigint, tries = i.tries + 1 FROM page
    WHERE i.seq = page.seq AND page.before < ${PAGE_BYTES_MAX} RETURNING i.seq, ${WAKE_OF_ROW}`,
  remove: `DELETE FROM wakeful.inbox WHERE tenant = $1 AND owner = $2 AND occurrence = $3
    AND tries BETWEEN $4 AND $5 RETURNING seq, ${WAKE}`,
  /** As an array: with a join, the planner would read the whole table for a few rows. */
  prune: `DELETE FROM wakeful.inbox WHERE seq = ANY(ARRAY(
    SELECT seq FROM wakeful.inbox WHERE arrived_at < $1::bigint ORDER BY arrived_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED))`,
  all: `SELECT seq, ${WAKE} FROM wakeful.inbox WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint`,
  import: `INSERT INTO wakeful.inbox (${WAKE}, claimed_until) SELECT n.*, 0
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[]) AS n
    ON CONFLICT DO NOTHING`,
} as const

/** Writes a wake, unless it exists; refused if its owner has as many as allowed. */
export async function putWake(session: Session, wake: NewWake, max: number): Promise<void> {
  const { tenant, owner, occurrenceId, alarmId, arrivedAt, body } = wake
  const values = [tenant, owner, occurrenceId, alarmId, arrivedAt, body, max]
  if ((await session.run(INBOX_QUERIES.put, ...values)) > 0) return
  const known = await session.row(INBOX_QUERIES.known, tenant, owner, occurrenceId)
  if (known === undefined) throw inboxFull(wake, max)
}

/** Hands out the oldest available wakes. */
export async function claimWakes(
  session: Session,
  { tenant, owner }: Scope,
  { now, holdMs, limit }: WakeRequest,
): Promise<InboxWake[]> {
  const rows = await session.rows(INBOX_QUERIES.claim, tenant, owner, now, holdMs, limit)
  // UPDATE returns rows in no particular order.
  return rows.sort(byArrival).map(wakeOf)
}

/** Removes a wake; null if the owner has no such wake. */
export async function removeWake(
  session: Session,
  { tenant, owner }: Scope,
  occurrenceId: string,
  triesMin = 0,
  triesMax = Number.MAX_SAFE_INTEGER,
): Promise<InboxWake | null> {
  const row = await session.row(INBOX_QUERIES.remove, tenant, owner, occurrenceId, triesMin, triesMax)
  return row === undefined ? null : wakeOf(row)
}

/** The wake of a row, which starts with its number. */
export function wakeOf(row: Values): InboxWake {
  const [, tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries] = row as WakeValues
  return { tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries }
}

/** The values of a wake, as an import writes them. */
export function wakeValues(wake: InboxWake): (string | number)[] {
  const { tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries } = wake
  return [tenant, owner, occurrenceId, alarmId, arrivedAt, body, tries]
}

type WakeValues = [Serial, string, string, string, string, number, string, number]

function byArrival(a: Values, b: Values): number {
  const [one, other] = [a as WakeValues, b as WakeValues]
  return one[5] - other[5] || bySerial(one[0], other[0])
}
