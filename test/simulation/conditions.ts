import type { Random } from '../random.ts'
import type { FaultName } from './faults.ts'

/** What may befall a statement. */
export type StatementFault = Extract<FaultName, 'requestLost' | 'responseLost' | 'hang' | 'conflict'>
/** What may befall news of another process. */
type NoticeFault = Extract<FaultName, 'noticeLost' | 'noticeLate' | 'noticeDuplicated'>

/** How likely each of these is: what is not named does not happen. */
export type Conditions = Partial<Readonly<Record<StatementFault | NoticeFault | 'slow', number>>>

/** Good conditions: nothing is lost, and little is slow. */
export const NORMAL: Conditions = { slow: 0.01 }

/** Bad conditions: something befalls every twentieth statement, and every fifth of the news. */
export const FAULTY: Conditions = {
  slow: 0.02, requestLost: 0.01, responseLost: 0.01, hang: 0.002, conflict: 0.01, noticeLost: 0.05, noticeLate: 0.1,
  noticeDuplicated: 0.05,
} // biome-ignore format: a list

/** What becomes of a statement: when it arrives, when its answer does, and what goes wrong. */
export interface Transmission {
  readonly thereMs: number
  readonly backMs: number
  readonly isSlow: boolean
  /**
   * It never arrives (`requestLost`); or it runs, and its answer is lost (`responseLost`: the link breaks; `hang`: nobody says
   * so): half done; or the database ends it, because another transaction was in the way (`conflict`).
   */
  readonly fault: StatementFault | null
}

/** How long a process waits for an answer before it takes the link for broken: a beat's, and any other. */
export const BEAT_MS_MAX = 4_000
export const ANSWER_MS_MAX = 12_000
const BROKEN_MS_MAX = 4_000
const SLOW_MS_MAX = 2_000
const LATE_MS_MAX = 3_000
const FAULTS = ['requestLost', 'responseLost', 'hang', 'conflict'] as const

/** Draws a statement's transmission. As many numbers are drawn in every conditions, so that it changes nothing else. */
export function drawTransmission(random: Random, conditions: Conditions): Transmission {
  const there = travel(random, conditions)
  const back = travel(random, conditions)
  const brokenMs = random.next() * BROKEN_MS_MAX
  const fault = one(FAULTS, random, conditions)
  const isLost = fault === 'requestLost' || fault === 'responseLost'
  return {
    thereMs: there.ms,
    backMs: isLost ? brokenMs : back.ms,
    isSlow: there.isSlow || back.isSlow,
    fault,
  }
}

/** What becomes of news. Two that are late by different times come in another order than they were told. */
export function drawNotice(
  random: Random,
  conditions: Conditions,
): { fault: NoticeFault | null; lateMs: number } {
  return {
    fault: one(['noticeLost', 'noticeLate', 'noticeDuplicated'], random, conditions),
    lateMs: random.next() * LATE_MS_MAX,
  }
}

/** One of these at most, each as likely as the conditions says. */
function one<F extends StatementFault | NoticeFault>(
  faults: readonly F[],
  random: Random,
  conditions: Conditions,
): F | null {
  let left = random.next()
  for (const fault of faults) {
    left -= conditions[fault] ?? 0
    if (left < 0) return fault
  }
  return null
}

/** A fraction of a millisecond, now and then much more. */
function travel(random: Random, { slow = 0 }: Conditions): { readonly ms: number; readonly isSlow: boolean } {
  const isSlow = random.chance(slow)
  return { ms: 0.1 + random.next() * (isSlow ? SLOW_MS_MAX : 0.5), isSlow }
}
