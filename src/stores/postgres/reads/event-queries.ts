import { LOG_BYTES_MAX } from '../../index.ts'

/** An event, with its alarm's id and key: `e` joined with `a`. */
const EVENT = `e.seq, e.id, e.tenant, e.owner, e.type, e.origin, a.id, e.occurrence, a.key, e.subject, e.correlation_id,
  e.at, e.data`

/** Whole parts of the log, whoever owns them. */
export const LOG_QUERIES = {
  /** For exports. */
  everything: `SELECT ${EVENT} FROM wakeful.events e LEFT JOIN wakeful.alarms a ON a.seq = e.alarm
  WHERE e.seq > $1::bigint ORDER BY e.seq LIMIT $2::bigint`,
  newestOfAlarm: `SELECT ${EVENT} FROM wakeful.events e LEFT JOIN wakeful.alarms a ON a.seq = e.alarm
  WHERE e.alarm = $1::bigint ORDER BY e.seq DESC LIMIT $2::bigint`,
} as const

/** Whose events are read: one owner's, a tenant's, all, or one alarm's. */
export type EventSource = 'owner' | 'tenant' | 'all' | 'alarm'

/** Statements over a part of the log, after a position and up to another. */
interface SourceQueries {
  readonly page: string
  /** The position at which a page with a filter ends, if the log is longer. */
  readonly end: string
  readonly filtered: string
}

/**
 * The statements of each source; queries.test.ts checks their plans. Tenant and owner are compared as a row together with the
 * position, as in reads/list.ts: otherwise a small tenant's events are searched among those of all.
 */
export const EVENT_QUERIES: Readonly<Record<EventSource, SourceQueries>> = {
  owner: queries(
    'e.tenant = $1 AND (e.owner, e.seq) > ($2, $3::bigint) AND (e.owner, e.seq) <= ($2, $4::bigint)',
    'e.owner, e.seq',
    5,
  ),
  tenant: queries(
    '(e.tenant, e.seq) > ($1, $2::bigint) AND (e.tenant, e.seq) <= ($1, $3::bigint)',
    'e.tenant, e.seq',
    4,
  ),
  all: queries('e.seq > $1::bigint AND e.seq <= $2::bigint', 'e.seq', 3),
  alarm: queries('e.alarm = $1::bigint AND e.seq > $2::bigint AND e.seq <= $3::bigint', 'e.seq', 4),
}

/** `next`: the number of the first parameter after those of the source: the limit, the most that a filter goes through, its values. */
function queries(source: string, order: string, next: number): SourceQueries {
  const $ = (offset: number, type: string) => `$${next + offset}::${type}`
  const filter = `(${$(2, 'text[]')} IS NULL OR e.type = ANY(${$(2, 'text[]')}) OR e.type ^@ ANY(${$(3, 'text[]')}))
    AND (${$(4, 'text')} IS NULL OR e.origin = ${$(4, 'text')}) AND (${$(5, 'text')} IS NULL OR e.subject = ${$(5, 'text')})
    AND (${$(6, 'text')} IS NULL OR e.correlation_id = ${$(6, 'text')})
    AND (${$(7, 'bigint')} IS NULL OR e.at >= ${$(7, 'bigint')}) AND (${$(8, 'bigint')} IS NULL OR e.at < ${$(8, 'bigint')})`
  const all = (limit: string) =>
    `SELECT e.* FROM wakeful.events e WHERE ${source} ORDER BY ${order} LIMIT ${limit}`
  // The page is limited by the size of its events, which PostgreSQL knows without reading the texts.
  const before = `sum(octet_length(e.data)) OVER (ORDER BY ${order}) - octet_length(e.data)`
  const page = (found: string) => `SELECT ${EVENT} FROM (SELECT e.*, ${before} AS before FROM (${found}) e) e
  LEFT JOIN wakeful.alarms a ON a.seq = e.alarm WHERE e.before < ${LOG_BYTES_MAX} ORDER BY ${order}`
  return {
    page: page(all($(0, 'bigint'))),
    end: `SELECT e.seq FROM wakeful.events e WHERE ${source} ORDER BY ${order} OFFSET ${$(0, 'bigint')} LIMIT 1`,
    // The filter is applied to the rows in their order: together with the range, the planner would sort the whole log.
    filtered: page(
      `SELECT e.* FROM (${all($(1, 'bigint'))}) e WHERE ${filter} ORDER BY ${order} LIMIT ${$(0, 'bigint')}`,
    ),
  }
}
