import type { Broken, Entry } from './entries.ts'
import type { Evidence } from './evidence.ts'

/** What happened, in numbers: a campaign that hit nothing proves nothing. */
export interface Figures {
  readonly asked: number
  readonly acknowledged: number
  readonly cancelled: number
  readonly firingAtCancel: number
  readonly occurrences: number
  readonly deliveries: number
  /** Deliveries beyond the first that a kill or a failed attempt explains; the rest are violations. */
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
  /** Times at which the machine itself held a run or the store up for long. */
  readonly stalls: number
}

/** Counts what the evidence holds. */
export function tally({ entries, log, effects }: Evidence): Figures {
  const count = (fits: (entry: Evidence['entries'][number]) => boolean) => entries.filter(fits).length
  const deliveries = count(({ type }) => type === 'start')
  const occurrences = new Set(entries.flatMap((entry) => (entry.type === 'start' ? entry.occurrenceId : [])))
  return {
    asked: count(({ type }) => type === 'ask'),
    acknowledged: count(({ type }) => type === 'set'),
    cancelled: count((entry) => entry.type === 'cancel' && entry.outcome === 'cancelled'),
    firingAtCancel: count((entry) => entry.type === 'cancel' && entry.outcome === 'firing'),
    occurrences: occurrences.size,
    deliveries,
    repeats: deliveries - occurrences.size,
    skipped: log.filter(({ type }) => type === 'alarm.skipped').length,
    effects: effects.length,
    kills: count(({ type }) => type === 'killed'),
    killsInFlight: count((entry) => entry.type === 'killed' && entry.inFlight > 0),
    killsWithUnansweredCalls: count((entry) => entry.type === 'killed' && entry.unanswered > 0),
    pauses: count(({ type }) => type === 'paused'),
    pausesInFlight: count((entry) => entry.type === 'paused' && entry.inFlight > 0),
    restarts: count(isBroken('restart', 0)),
    restartsInFlight: count(isBroken('restart', 1)),
    cuts: count(isBroken('cut', 0)),
    cutsInFlight: count(isBroken('cut', 1)),
    halfOpens: count(isBroken('half_open', 0)),
    halfOpensInFlight: count(isBroken('half_open', 1)),
    stalls: count(isBroken('stall', 0)),
  }
}

function isBroken(what: Broken['what'], inFlightMin: number): (entry: Entry) => boolean {
  return (entry) => entry.type === 'broken' && entry.what === what && entry.inFlight >= inFlightMin
}
