import { type Scope, utf8Length } from '../../../src/alarm/index.ts'
import {
  type InboxWake,
  inboxFull,
  type NewWake,
  PageLimit,
  type WakeRequest,
} from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { type InboxRow, scopedName } from './tables.ts'

/** Adds a wake, unless it exists already or its owner has reached the limit. */
export function putWake(database: SimulatedDatabase, wake: NewWake, max: number): void {
  const { tables } = database
  if (tables.inboxNames.get(scopedName(wake, wake.occurrenceId)) !== undefined) return
  if (tables.inboxOfOwner.in(scopedName(wake)).length >= max) throw inboxFull(wake, max)
  const seq = database.next('inbox')
  tables.inbox.put(seq, { ...wake, seq, tries: 0, claimedUntil: 0 })
}

/** Claims the oldest unclaimed wakes. */
export function claimWakes(
  { tables }: SimulatedDatabase,
  scope: Scope,
  { now, holdMs, limit }: WakeRequest,
): InboxWake[] {
  const page = new PageLimit(limit)
  const free = tables.inboxOfOwner
    .in(scopedName(scope))
    .map(({ key }) => tables.inbox.get(key)!)
    .filter(({ claimedUntil }) => claimedUntil <= now)
    .filter(({ body }) => page.add(utf8Length(body)))
  return free.map((row) => {
    const claimed = { ...row, tries: row.tries + 1, claimedUntil: now + holdMs }
    tables.inbox.put(row.seq, claimed)
    return wakeOf(claimed)
  })
}

/** Removes a wake of the owner. Returns null if there is none. */
export function removeWake(
  { tables }: SimulatedDatabase,
  scope: Scope,
  occurrenceId: string,
  triesMin = 0,
  triesMax = Number.MAX_SAFE_INTEGER,
): InboxWake | null {
  const seq = tables.inboxNames.get(scopedName(scope, occurrenceId))
  if (seq === undefined) return null
  const row = tables.inbox.get(seq)!
  if (row.tries < triesMin || row.tries > triesMax) return null
  tables.inbox.remove(seq)
  return wakeOf(row)
}

/** Deletes up to `limit` wakes that arrived before a time. Returns how many. */
export function pruneWakes({ tables }: SimulatedDatabase, arrivedBefore: number, limit: number): number {
  const old = tables.inbox
    .values()
    .filter(({ arrivedAt }) => arrivedAt < arrivedBefore)
    .slice(0, limit)
  for (const { seq } of old) tables.inbox.remove(seq)
  return old.length
}

function wakeOf({ seq: _seq, claimedUntil: _claimedUntil, ...wake }: InboxRow): InboxWake {
  return wake
}
