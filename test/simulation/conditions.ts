import type { Random } from '../random.ts'
import type { Fault } from './faults.ts'

/** What may befall a statement. */
export type StatementFault = Extract<Fault, 'lostThere' | 'lostBack' | 'hang' | 'conflict'>
/** What may befall news of another process. */
type NewsFault = Extract<Fault, 'newsLost' | 'newsLate' | 'newsDoubled'>

/** How likely each of these is: what is not named does not happen. */
export type Weather = Partial<Readonly<Record<StatementFault | NewsFault | 'slow', number>>>

/** Good weather: nothing is lost, and little is slow. */
export const CALM: Weather = { slow: 0.01 }

/** Bad weather: something befalls every twentieth statement, and every fifth of the news. */
export const STORMY: Weather = {
  slow: 0.02, lostThere: 0.01, lostBack: 0.01, hang: 0.002, conflict: 0.01, newsLost: 0.05, newsLate: 0.1,
  newsDoubled: 0.05,
} // biome-ignore format: a list

/** What becomes of a statement: when it arrives, when its answer does, and what goes wrong. */
export interface Fate {
  readonly thereMs: number
  readonly backMs: number
  readonly isSlow: boolean
  /**
   * It never arrives (`lostThere`); or it runs, and its answer is lost (`lostBack`: the link breaks; `hang`: nobody says
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
const FAULTS = ['lostThere', 'lostBack', 'hang', 'conflict'] as const

/** Draws a statement's fate. As many numbers are drawn in every weather, so that it changes nothing else. */
export function fateOf(random: Random, weather: Weather): Fate {
  const there = travel(random, weather)
  const back = travel(random, weather)
  const brokenMs = random.next() * BROKEN_MS_MAX
  const fault = one(FAULTS, random, weather)
  const isLost = fault === 'lostThere' || fault === 'lostBack'
  return {
    thereMs: there.ms,
    backMs: isLost ? brokenMs : back.ms,
    isSlow: there.isSlow || back.isSlow,
    fault,
  }
}

/** What becomes of news. Two that are late by different times come in another order than they were told. */
export function newsFateOf(random: Random, weather: Weather): { fault: NewsFault | null; lateMs: number } {
  return {
    fault: one(['newsLost', 'newsLate', 'newsDoubled'], random, weather),
    lateMs: random.next() * LATE_MS_MAX,
  }
}

/** One of these at most, each as likely as the weather says. */
function one<F extends StatementFault | NewsFault>(
  faults: readonly F[],
  random: Random,
  weather: Weather,
): F | null {
  let left = random.next()
  for (const fault of faults) {
    left -= weather[fault] ?? 0
    if (left < 0) return fault
  }
  return null
}

/** A fraction of a millisecond, now and then much more. */
function travel(random: Random, { slow = 0 }: Weather): { readonly ms: number; readonly isSlow: boolean } {
  const isSlow = random.chance(slow)
  return { ms: 0.1 + random.next() * (isSlow ? SLOW_MS_MAX : 0.5), isSlow }
}
