import type { Clock } from '../../time/index.ts'

/** The host's own time. The one place where `Date.now()` is called. */
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

/** Beyond 24.8 days `setTimeout` fires at once: longer waits go in steps. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1
