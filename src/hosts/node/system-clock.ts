import type { Clock } from '../../time/index.ts'

/** The clock of the system. No other file calls `Date.now()`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    let timer: NodeJS.Timeout
    const wait = (leftMs: number) => {
      const step = Math.min(Math.max(0, leftMs), TIMEOUT_MS_MAX)
      timer = setTimeout(() => (leftMs > step ? wait(leftMs - step) : fire()), step)
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
}

/** `setTimeout` fires at once beyond 24.8 days, so longer waits are split. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1
