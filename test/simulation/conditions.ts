import type { Random } from '../random.ts'
import type { FaultName } from './faults.ts'

/** Faults of a statement. */
export type StatementFault = Extract<FaultName, 'requestLost' | 'responseLost' | 'hang' | 'conflict'>
/** Faults of a notice from another process. */
type NoticeFault = Extract<FaultName, 'noticeLost' | 'noticeLate' | 'noticeDuplicated'>

/** The probability of each fault. A fault that is not named does not happen. */
export type Conditions = Partial<Readonly<Record<StatementFault | NoticeFault | 'slow', number>>>

/** Normal conditions: nothing is lost, and little is slow. */
export const NORMAL: Conditions = { slow: 0.01 }

/** Bad conditions: a fault hits every twentieth statement and every fifth notice. */
export const FAULTY: Conditions = {
  slow: 0.02, requestLost: 0.01, responseLost: 0.01, hang: 0.002, conflict: 0.01, noticeLost: 0.05, noticeLate: 0.1,
  noticeDuplicated: 0.05,
} // biome-ignore format: a list

/** How a statement travels: the delays of request and response, and the fault, if any. */
export interface Transmission {
  readonly requestMs: number
  readonly responseMs: number
  readonly isSlow: boolean
  /**
   * `requestLost`: it never arrives. `responseLost`: it runs, and the connection breaks before the response. `hang`: it
   * runs, and neither response nor error arrives. `conflict`: the database aborts it because of another transaction.
   */
  readonly fault: StatementFault | null
}

/**
 * How long a process waits for a response before it considers the connection broken: for a heartbeat, and for any other
 * statement.
 */
export const HEARTBEAT_MS_MAX = 4_000
export const ANSWER_MS_MAX = 12_000
const BROKEN_MS_MAX = 4_000
const SLOW_MS_MAX = 2_000
const LATE_MS_MAX = 3_000
const FAULTS = ['requestLost', 'responseLost', 'hang', 'conflict'] as const

/**
 * Draws how a statement travels. Equally many numbers are drawn under all conditions, so that they change nothing else.
 */
export function drawTransmission(random: Random, conditions: Conditions): Transmission {
  const request = drawDelay(random, conditions)
  const response = drawDelay(random, conditions)
  const brokenMs = random.next() * BROKEN_MS_MAX
  const fault = one(FAULTS, random, conditions)
  const isLost = fault === 'requestLost' || fault === 'responseLost'
  return {
    requestMs: request.ms,
    responseMs: isLost ? brokenMs : response.ms,
    isSlow: request.isSlow || response.isSlow,
    fault,
  }
}

/** Draws how a notice travels. Notices with different delays arrive out of order. */
export function drawNotice(
  random: Random,
  conditions: Conditions,
): { fault: NoticeFault | null; lateMs: number } {
  return {
    fault: one(['noticeLost', 'noticeLate', 'noticeDuplicated'], random, conditions),
    lateMs: random.next() * LATE_MS_MAX,
  }
}

/** At most one of these faults, with the given probabilities. */
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

/** A fraction of a millisecond, occasionally much more. */
function drawDelay(
  random: Random,
  { slow = 0 }: Conditions,
): { readonly ms: number; readonly isSlow: boolean } {
  const isSlow = random.chance(slow)
  return { ms: 0.1 + random.next() * (isSlow ? SLOW_MS_MAX : 0.5), isSlow }
}
