import { type Scope, type Serial, serialOf } from '../../../alarm/index.ts'
import { prunedEventsMeta } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { INBOX_QUERIES } from '../reads/index.ts'
import { metaOf, putMeta } from '../rows/index.ts'

/** How far pruning has read the log. Events before it belong to live alarms or were deleted. */
const PRUNED_TO_META = 'pruned_to'
const EVENTS_READ_MAX = 5_000

export const PRUNE_QUERIES = {
  oldEvents: `SELECT e.seq, e.alarm, e.at, o.status FROM wakeful_events e LEFT JOIN wakeful_outcomes o ON o.alarm = e.alarm
    WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
  newestEvent: 'SELECT max(seq) AS seq, at, tenant, owner FROM wakeful_events WHERE alarm = ?',
} as const

interface OldEvent {
  seq: number
  alarm: number | null
  at: number
  status: string | null
}

interface NewestEvent extends Scope {
  seq: Serial
  at: number | null
}

/**
 * Deletes ended alarms with their events, oldest first, and wakes that were not fetched by then. It continues through the
 * log, which is in time order: every alarm is found at its last event, so that this needs no index of its own.
 */
export function prune(session: Session, endedBefore: number, limit: number): number {
  const start = Number(metaOf(session, PRUNED_TO_META) ?? 0)
  let reached = start
  let pruned = 0
  for (const event of session.all<OldEvent>(PRUNE_QUERIES.oldEvents, start, EVENTS_READ_MAX)) {
    if (event.at >= endedBefore || pruned >= limit) break
    reached = event.seq
    if (event.alarm === null || event.status === null) continue
    const newest = session.get<NewestEvent>(PRUNE_QUERIES.newestEvent, event.alarm)
    // Undefined: the alarm was deleted at an earlier event of this page.
    if (newest === undefined || newest.at === null || newest.at >= endedBefore) continue
    pruneAlarm(session, event.alarm)
    recordPruned(session, newest)
    pruned += 1
  }
  if (reached > start) putMeta(session, PRUNED_TO_META, String(reached))
  return pruned + session.run(INBOX_QUERIES.prune, endedBefore, limit - pruned).changes
}

function pruneAlarm(session: Session, seq: number): void {
  session.run('DELETE FROM wakeful_events WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_outcomes WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_idempotency_keys WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_alarms WHERE seq = ?', seq)
}

/** Records the newest deleted event of the owner. Alarms do not end in log order, so it may only grow. */
function recordPruned(session: Session, { seq, ...scope }: NewestEvent): void {
  const name = prunedEventsMeta(scope)
  const before = metaOf(session, name)
  if (before === null || serialOf(before) < seq) putMeta(session, name, String(seq))
}
