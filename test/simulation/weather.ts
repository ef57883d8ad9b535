import type { Random } from '../chaos/random.ts'

/** How likely it is that something befalls a statement, or news of another process. */
export interface Weather {
  readonly lostThere: number
  readonly lostBack: number
  readonly slow: number
}

/** Good weather: nothing is lost, and little is slow. */
export const CALM: Weather = { lostThere: 0, lostBack: 0, slow: 0.01 }

/** What becomes of a statement: when it arrives, when its answer does, and what goes wrong. */
export interface Fate {
  readonly thereMs: number
  readonly backMs: number
  readonly isSlow: boolean
  /** It never arrives (`lostThere`), or it runs and its answer is lost (`lostBack`): half done. */
  readonly fault: 'lostThere' | 'lostBack' | null
}

/** How long a process waits for an answer before it takes the link for broken. */
export const ANSWER_MS_MAX = 4_000
const SLOW_MS_MAX = 2_000

/** Draws a statement's fate. As many numbers are drawn in every weather, so that it changes nothing else. */
export function fateOf(random: Random, weather: Weather): Fate {
  const there = travel(random, weather)
  const back = travel(random, weather)
  const lostMs = random.next() * ANSWER_MS_MAX
  const chance = random.next()
  const { lostThere, lostBack } = weather
  const fault = chance < lostThere ? 'lostThere' : chance < lostThere + lostBack ? 'lostBack' : null
  return {
    thereMs: there.ms,
    backMs: fault === null ? back.ms : lostMs,
    isSlow: there.isSlow || back.isSlow,
    fault,
  }
}

/** A fraction of a millisecond, now and then much more. */
function travel(random: Random, { slow }: Weather): { readonly ms: number; readonly isSlow: boolean } {
  const isSlow = random.chance(slow)
  return { ms: 0.1 + random.next() * (isSlow ? SLOW_MS_MAX : 0.5), isSlow }
}
