import { atLeastOnce } from './at-least-once.ts'
import { bounded } from './bounded.ts'
import type { Violation } from './breach.ts'
import { calendarTrue } from './calendar-true.ts'
import { cancelWins } from './cancel-wins.ts'
import { effects } from './effects.ts'
import type { Evidence } from './evidence.ts'
import { type Facts, factsOf } from './facts.ts'
import { fenced } from './fenced.ts'
import { type Figures, tally } from './figures.ts'
import { isolated } from './isolated.ts'
import { liveness } from './liveness.ts'
import { logReaders } from './log-readers.ts'
import { neverEarly } from './never-early.ts'
import { overlaps } from './overlaps.ts'
import { recordedOnce } from './recorded-once.ts'
import { refusals } from './refusals.ts'
import { repeats } from './repeats.ts'
import { reports } from './reports.ts'
import { stoppedInLog } from './stopped-in-log.ts'
import { tries } from './tries.ts'
import { twins } from './twins.ts'
import { verbatim } from './verbatim.ts'

/** What the judge found. */
export interface Verdict {
  readonly violations: readonly Violation[]
  readonly figures: Figures
}

/** One for each promise, and for what goes beside them. */
const CHECKERS: readonly ((facts: Facts) => Violation[])[] = [
  atLeastOnce,
  neverEarly,
  calendarTrue,
  twins,
  repeats,
  tries,
  overlaps,
  cancelWins,
  stoppedInLog,
  refusals,
  recordedOnce,
  reports,
  effects,
  fenced,
  verbatim,
  isolated,
  bounded,
  logReaders,
  liveness,
]

/**
 * Holds what was written down against what the store says. It knows no store and nothing of src/, so that what it takes
 * for right is said twice, and independently; SQLite, PostgreSQL and the simulator have this one judge.
 */
export function judge(evidence: Evidence): Verdict {
  const facts = factsOf(evidence)
  return { violations: CHECKERS.flatMap((check) => check(facts)), figures: tally(evidence) }
}
