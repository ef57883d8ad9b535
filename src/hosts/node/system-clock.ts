import type { Clock } from '../../time/index.ts'

/** The host's own time. The one place where `Date.now()` is called. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), TIMEOUT_MS_MAX))
    return () => clearTimeout(timer)
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
}

/** Beyond 24.8 days `setTimeout` fires at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1
