import { type Scope, type Serial, serialOf } from '../../../alarm/index.ts'
import { goneFact } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { INBOX_QUERIES } from '../reads/index.ts'

/** How far pruning has looked at the log: events below it belong to alarms that live, or are gone. */
const PLACE = 'pruned_to'
const EVENTS_LOOKED_AT_MAX = 5_000

export const PRUNE_QUERIES = {
  place: 'SELECT value FROM wakeful_meta WHERE name = ?',
  oldEvents: `SELECT e.seq, e.alarm, e.at, o.status FROM wakeful_events e LEFT JOIN wakeful_outcomes o ON o.alarm = e.alarm
    WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
  newestEvent: 'SELECT max(seq) AS seq, at, tenant, owner FROM wakeful_events WHERE alarm = ?',
} as const

const putFact =
  'INSERT INTO wakeful_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

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
 * Deletes ended alarms with their events, oldest first, and the wakes that nobody fetched by then. It walks the log, whose order is time, from where it was
 * left: an alarm is met again at its last event, so that no index is needed just for this.
 */
export function prune(session: Session, endedBefore: number, limit: number): number {
  const place = Number(session.get<{ value: string }>(PRUNE_QUERIES.place, PLACE)?.value ?? 0)
  let reached = place
  let pruned = 0
  for (const event of session.all<OldEvent>(PRUNE_QUERIES.oldEvents, place, EVENTS_LOOKED_AT_MAX)) {
    if (event.at >= endedBefore || pruned >= limit) break
    reached = event.seq
    if (event.alarm === null || event.status === null) continue
    const newest = session.get<NewestEvent>(PRUNE_QUERIES.newestEvent, event.alarm)
    // None: the alarm went with an earlier event of this page.
    if (newest === undefined || newest.at === null || newest.at >= endedBefore) continue
    pruneAlarm(session, event.alarm)
    noteGone(session, newest)
    pruned += 1
  }
  if (reached > place) session.run(putFact, PLACE, String(reached))
  return pruned + session.run(INBOX_QUERIES.prune, endedBefore, limit - pruned).changes
}

function pruneAlarm(session: Session, seq: number): void {
  session.run('DELETE FROM wakeful_events WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_outcomes WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_idempotency_keys WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_alarms WHERE seq = ?', seq)
}

/** How far the owner's log has holes; alarms do not end in the order in which they are met. */
function noteGone(session: Session, { seq, ...scope }: NewestEvent): void {
  const name = goneFact(scope)
  const before = session.get<{ value: string }>(PRUNE_QUERIES.place, name)?.value
  if (before === undefined || serialOf(before) < seq) session.run(putFact, name, String(seq))
}
