import { bySerial, type Serial } from '../../../alarm/index.ts'
import { PAGE_BYTES_MAX, type Values } from '../../index.ts'

const WAKE = 'tenant, owner, occurrence, alarm, arrived_at, body, tries'
const WAKE_OF_ROW = WAKE.replaceAll(/\w+/g, 'i.$&')

/**
 * The statements about inboxes. Rows that were handed out are skipped one by one: an owner has a few thousand at
 * most.
 */
export const INBOX_QUERIES = {
  known: 'SELECT 1 FROM wakeful.inbox WHERE tenant = $1 AND owner = $2 AND occurrence = $3',
  waiting: 'SELECT count(*) FROM (SELECT FROM wakeful.inbox LIMIT $1::bigint) n',
  put: `INSERT INTO wakeful.inbox (${WAKE}, claimed_until) SELECT $1, $2, $3, $4, $5::bigint, $6, $7::bigint, 0
    WHERE $8::bigint > (SELECT count(*) FROM (SELECT FROM wakeful.inbox WHERE tenant = $1 AND owner = $2 LIMIT $8::bigint) n)
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

/** Compares rows of `claim`. */
export function byArrival(a: Values, b: Values): number {
  return (a[5] as number) - (b[5] as number) || bySerial(a[0] as Serial, b[0] as Serial)
}
