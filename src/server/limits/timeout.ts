import { type Clock, formatDuration } from '../../time/index.ts'

/** The answer did not come in time. */
export class TimedOut extends Error {
  override readonly name = 'Late'
}

/** Waits for an answer, but not for ever: then it throws `Late`, and what still comes is not looked at. */
export async function withTimeout<T>(answer: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>()
  const words = `the store did not answer within ${formatDuration(timeoutMs)}`
  const cancel = clock.setTimer(timeoutMs, () => late.reject(new TimedOut(words)))
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    cancel()
  }
}
