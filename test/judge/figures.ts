import type { Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'

/** Counts of what happened. They show whether the faults hit anything. */
export interface Figures {
  readonly asked: number
  readonly acknowledged: number
  readonly cancelled: number
  readonly firingAtCancel: number
  readonly occurrences: number
  readonly deliveries: number
  /** Deliveries beyond the first. Those that no kill or failed attempt explains are violations. */
  readonly repeats: number
  readonly skipped: number
  readonly effects: number
  readonly kills: number
  readonly killsInFlight: number
  readonly killsWithUnansweredCalls: number
  readonly pauses: number
  readonly pausesInFlight: number
  readonly restarts: number
  readonly restartsInFlight: number
  readonly cuts: number
  readonly cutsInFlight: number
  readonly halfOpens: number
  readonly halfOpensInFlight: number
  /** How often the machine itself delayed a run or the store for long. */
  readonly stalls: number
}

/** Counts what happened in the evidence. */
export function tally({ entries, log, effects }: Evidence): Figures {
  const counts = new Map<string, number>()
  const occurrences = new Set<string>()
  const add = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  for (const entry of entries) {
    for (const what of namesOf(entry)) add(what)
    if (entry.type === 'start') occurrences.add(entry.occurrenceId)
  }
  const count = (what: string) => counts.get(what) ?? 0
  return {
    asked: count('ask'),
    acknowledged: count('set'),
    cancelled: count('cancel cancelled'),
    firingAtCancel: count('cancel firing'),
    occurrences: occurrences.size,
    deliveries: count('start'),
    repeats: count('start') - occurrences.size,
    skipped: log.filter(({ type }) => type === 'alarm.skipped').length,
    effects: effects.length,
    kills: count('killed'),
    killsInFlight: count('killed in flight'),
    killsWithUnansweredCalls: count('killed unanswered'),
    pauses: count('process_paused'),
    pausesInFlight: count('paused in flight'),
    restarts: count('restart'),
    restartsInFlight: count('restart in flight'),
    cuts: count('cut'),
    cutsInFlight: count('cut in flight'),
    halfOpens: count('half_open'),
    halfOpensInFlight: count('half_open in flight'),
    stalls: count('stall'),
  }
}

/** The counters an entry increments. */
function namesOf(entry: Entry): string[] {
  if (entry.type === 'cancel') return [`cancel ${entry.outcome}`]
  const name = entry.type === 'broken' ? entry.what : entry.type
  const names: string[] = [name]
  if ('inFlight' in entry && entry.inFlight > 0) names.push(`${name} in flight`)
  if (entry.type === 'killed' && entry.unanswered > 0) names.push('killed unanswered')
  return names
}
