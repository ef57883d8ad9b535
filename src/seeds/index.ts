/**
 * Compatibility with the seeds, the programs whose interfaces Wakeful continues: their words and shapes that differ from
 * Wakeful's own. The calls of seed 001 over the WebSocket are in `server/live/seed-calls.ts`.
 */

/** Seed 001's result of an occurrence whose report never came. */
export const TIMED_OUT = 'timeout_unknown'

/** The seeds' own words, which lists and histories take too: seed 001's and seed 002's. */
const SEED_WORDS = {
  pending: ['active', 'paused'],
  Scheduled: ['active', 'paused'],
  Reached: ['awaiting', 'fired'],
  [TIMED_OUT]: ['timed_out'],
} as const

/** The states that each status stands for in a list: Wakeful's statuses, and the words of the seeds. */
export const LIST_STATES = {
  active: ['active'],
  paused: ['paused'],
  fired: ['awaiting', 'fired'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  timed_out: ['timed_out'],
  ...SEED_WORDS,
} as const

/** A status to list by. */
export type ListStatus = keyof typeof LIST_STATES

/** The statuses to list by. */
export const LIST_STATUSES = Object.keys(LIST_STATES) as [ListStatus, ...ListStatus[]]

/** The same in seed 001's history, where two statuses stand for what `stats` counts under their name. */
export const HISTORY_STATES = {
  ...LIST_STATES,
  fired: ['awaiting'],
  completed: ['completed', 'fired'],
} as const

/** A status of seed 001's history. */
export type HistoryStatus = keyof typeof HISTORY_STATES

/** The statuses of seed 001's history. */
export const HISTORY_STATUSES = Object.keys(HISTORY_STATES) as [HistoryStatus, ...HistoryStatus[]]

const DID = 'did:matrix:'

/** The user that an owner stands for: the user id in a DID `did:matrix:<user_id>:<keyfp>`, else the owner itself. */
export function userIdOf(owner: string): string {
  const end = owner.lastIndexOf(':')
  return owner.startsWith(DID) && end > DID.length ? owner.slice(DID.length, end) : owner
}

/** A pending alarm in seed 001's list: when it fires, and how long after it was set. A paused alarm may have no instant. */
export function pendingItem(id: string, fireAt: Date | null, createdAt: Date) {
  if (fireAt === null) return { id, set_at: null, time_offset: null }
  const setAt = seconds(fireAt)
  return { id, set_at: setAt, time_offset: setAt - seconds(createdAt) }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000)
}
