import { bySerial, type Scope, type Serial, serialOf } from '../../../alarm/index.ts'
import { EVENTS_KEPT, type Pruned, prunedEventsMeta, TRIMMED_MAX } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { INBOX_QUERIES } from '../reads/index.ts'
import { metaOf, putMeta } from '../rows/index.ts'

/** How far pruning has read the log. Events before it are kept, or belong to alarms that are met again. */
const PRUNED_TO_META = 'pruned_to'

export const PRUNE_QUERIES = {
  /** An ended alarm that a list declares stays, or the list would set it anew: it has no status here. */
  oldEvents: `SELECT e.seq, e.alarm, e.at, e.tenant, e.owner, CASE WHEN a.declared_by IS NULL THEN o.status END AS status
    FROM wakeful_events e LEFT JOIN wakeful_outcomes o ON o.alarm = e.alarm LEFT JOIN wakeful_alarms a ON a.seq = e.alarm WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
  newestEvent: 'SELECT max(seq) AS seq FROM wakeful_events WHERE alarm = ?',
  newestNotKept: `SELECT seq FROM wakeful_events WHERE alarm = ? ORDER BY seq DESC LIMIT 1 OFFSET ${EVENTS_KEPT}`,
  removeEvents: `DELETE FROM wakeful_events WHERE seq IN (
    SELECT seq FROM wakeful_events WHERE alarm = ? AND seq <= ? ORDER BY seq LIMIT ${TRIMMED_MAX}) RETURNING seq`,
} as const

interface OldEvent extends Scope {
  seq: Serial
  alarm: Serial | null
  at: number
  status: string | null
}

interface Numbered {
  seq: Serial | null
}

/**
 * Continues through the log, which is in time order, from where it stopped. An ended alarm is deleted at its last event, so
 * that this needs no index of its own. Any other alarm loses what is not among its newest events: those of them that are old
 * are deleted when one of its later events is met.
 */
export function prune(session: Session, before: number, limit: number): Pruned {
  const start = serialOf(metaOf(session, PRUNED_TO_META) ?? '0')
  const rows = session.all<OldEvent>(PRUNE_QUERIES.oldEvents, start, limit)
  const firstRecent = rows.findIndex(({ at }) => at >= before)
  const old = firstRecent === -1 ? rows : rows.slice(0, firstRecent)
  const end = old.at(-1)?.seq ?? start
  const gone = new PrunedEvents(session)
  const met = new Set<Serial>()
  let [reached, alarms, events, removed] = [start, 0, 0, 0]
  for (const { seq, alarm, status, ...scope } of old) {
    if (removed >= limit) break
    reached = seq
    if (alarm === null || met.has(alarm)) continue
    met.add(alarm)
    const newest = session.get<Numbered>(PRUNE_QUERIES.newestEvent, alarm)!.seq!
    if (status !== null && newest <= end) {
      removed += pruneAlarm(session, alarm)
      gone.add(scope, newest)
      alarms += 1
      continue
    }
    const seqs = trim(session, alarm, end)
    const last = seqs.at(-1)
    if (last === undefined) continue
    gone.add(scope, last)
    removed += seqs.length
    events += seqs.length
  }
  if (reached > start) putMeta(session, PRUNED_TO_META, String(reached))
  gone.write()
  const wakes = session.run(INBOX_QUERIES.prune, before, limit).changes
  return { alarms, events, wakes, more: reached < end || old.length === limit || wakes === limit }
}

/** Deletes an ended alarm with all its events, and returns how many those were. */
function pruneAlarm(session: Session, seq: Serial): number {
  const { changes } = session.run('DELETE FROM wakeful_events WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_outcomes WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_idempotency_keys WHERE alarm = ?', seq)
  session.run('DELETE FROM wakeful_alarms WHERE seq = ?', seq)
  return changes
}

/** Deletes an alarm's events up to a position, except its newest, and returns their positions in order. */
function trim(session: Session, alarm: Serial, end: Serial): Serial[] {
  const notKept = session.get<Numbered>(PRUNE_QUERIES.newestNotKept, alarm)?.seq
  if (notKept === undefined || notKept === null) return []
  const upTo = notKept < end ? notKept : end
  return session
    .all<{ seq: Serial }>(PRUNE_QUERIES.removeEvents, alarm, upTo)
    .map(({ seq }) => seq)
    .sort(bySerial)
}

/** Collects the newest deleted event of each owner. Alarms do not end in log order, so what is recorded may only grow. */
class PrunedEvents {
  readonly #session: Session
  readonly #newest = new Map<string, Serial>()

  constructor(session: Session) {
    this.#session = session
  }

  add(scope: Scope, seq: Serial): void {
    const name = prunedEventsMeta(scope)
    const known = this.#newest.get(name)
    if (known === undefined || known < seq) this.#newest.set(name, seq)
  }

  write(): void {
    for (const [name, seq] of this.#newest) {
      const before = metaOf(this.#session, name)
      if (before === null || serialOf(before) < seq) putMeta(this.#session, name, String(seq))
    }
  }
}
