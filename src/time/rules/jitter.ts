import type { Rule } from './rule.ts'

/** The longest jitter taken: a day. */
export const JITTER_MS_MAX = 86_400_000

/**
 * How much later than its scheduled instant an occurrence wakes: 0 to the rule's `jitterMs`, both included. It
 * follows from the seed (the alarm's id) and the instant alone, so that a restart, another process and another
 * store come to the same moment.
 */
export function jitter(rule: Rule, seed: string, instant: number): number {
  if (rule.kind === 'once' || rule.jitterMs === undefined) return 0
  return hash(`${seed} ${instant}`) % (rule.jitterMs + 1)
}

/** When the occurrence of this scheduled instant wakes. Its name stays the scheduled instant (never-early). */
export function wakeTime(rule: Rule, seed: string, scheduledFor: number): number {
  return scheduledFor + jitter(rule, seed, scheduledFor)
}

/** 52 bits, well spread over instants that differ by a single digit: two lanes of multiply and xor, mixed at the end. */
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

/** Every bit of the answer depends on every bit given (the finalizer of MurmurHash3). */
function mixed(bits: number): number {
  let word = bits
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
  return (word ^ (word >>> 16)) >>> 0
}
