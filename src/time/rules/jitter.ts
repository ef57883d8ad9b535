import { DAY_MS } from '../durations/index.ts'
import type { Rule } from './rule.ts'

/** The longest jitter accepted: a day. */
export const JITTER_MS_MAX = DAY_MS

/**
 * How much later than its scheduled instant an occurrence wakes: 0 to the rule's `jitterMs`, inclusive. It depends only
 * on the seed (the alarm's id) and the instant, so that every process and store computes the same after a restart.
 */
export function jitter(rule: Rule, seed: string, instant: number): number {
  if (rule.kind === 'once' || rule.jitterMs === undefined) return 0
  return hash(`${seed} ${instant}`) % (rule.jitterMs + 1)
}

/** When the occurrence of this scheduled instant wakes; it is still identified by the scheduled instant. */
export function wakeTime(rule: Rule, seed: string, scheduledFor: number): number {
  return scheduledFor + jitter(rule, seed, scheduledFor)
}

/** A 52-bit hash that spreads well over instants that differ in one digit: two lanes of multiply and xor, then mixed. */
function hash(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  return (mixed(high ^ low) & 0xfffff) * 2 ** 32 + mixed(Math.imul(low, 3) + high)
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit of the input. */
function mixed(bits: number): number {
  let word = bits
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
  return (word ^ (word >>> 16)) >>> 0
}
