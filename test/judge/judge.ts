import { atLeastOnce } from './at-least-once.ts'
import { attempts } from './attempts.ts'
import { bounded } from './bounded.ts'
import type { Violation } from './breach.ts'
import { calendarTrue } from './calendar-true.ts'
import { cancelWins } from './cancel-wins.ts'
import { duplicateAlarms } from './duplicate-alarms.ts'
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
import { redeclared } from './redeclared.ts'
import { refusals } from './refusals.ts'
import { repeats } from './repeats.ts'
import { reports } from './reports.ts'
import { stoppedInLog } from './stopped-in-log.ts'
import { verbatim } from './verbatim.ts'

/** The violations found, and counts of what happened. */
export interface Judgement {
  readonly violations: readonly Violation[]
  readonly figures: Figures
}

/** One checker for each promise, and some for related rules. */
const CHECKERS: readonly ((facts: Facts) => Violation[])[] = [
  atLeastOnce,
  neverEarly,
  calendarTrue,
  duplicateAlarms,
  redeclared,
  repeats,
  attempts,
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
 * Checks the ledger against the contents of the store. It imports nothing from src/, so the expected behaviour is
 * stated independently of the implementation. SQLite, PostgreSQL and the simulator share this judge.
 */
export function judge(evidence: Evidence): Judgement {
  const facts = factsOf(evidence)
  return { violations: CHECKERS.flatMap((check) => check(facts)), figures: tally(evidence) }
}
