import { afterAll, onTestFinished, TestRunner } from 'vitest'

/**
 * Calls `close` when the test that is running has ended, or after the file's tests when none runs.
 * Vitest drops an `afterAll` that is registered inside a test without a word.
 */
export function afterwards(close: () => Promise<void> | void): void {
  if (TestRunner.getCurrentTest()) onTestFinished(close)
  else afterAll(close)
}
