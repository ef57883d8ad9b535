import { type Clock, formatDuration } from '../../time/index.ts'

/** The store did not answer in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Waits for the store for a bounded time. A later answer is ignored. */
export async function withTimeout<T>(answer: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  const timeout = Promise.withResolvers<never>()
  const message = `the store did not answer within ${formatDuration(timeoutMs)}`
  const cancel = clock.setTimer(timeoutMs, () => timeout.reject(new TimedOut(message)))
  try {
    return await Promise.race([answer, timeout.promise])
  } finally {
    cancel()
  }
}
