import { expect, it } from 'vitest'
import { retryDelayMs, sleep } from './retry.ts'

const answer = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: new Headers(headers),
})

it('retries temporary errors, with growing delays, up to the limit', () => {
  expect(retryDelayMs(1, 2, null, 1)).toBe(200)
  expect(retryDelayMs(2, 2, null, 1)).toBe(400)
  expect(retryDelayMs(2, 2, null, 0)).toBe(200)
  expect(retryDelayMs(3, 2, null, 1)).toBeNull()
  expect(retryDelayMs(20, 30, null, 1)).toBe(5_000)
  for (const status of [429, 502, 503, 504]) expect(retryDelayMs(1, 2, answer(status), 1)).toBe(200)
  for (const status of [400, 401, 404, 409, 500]) expect(retryDelayMs(1, 2, answer(status), 1)).toBeNull()
})

it('waits as long as Retry-After says, unless that is too long', () => {
  expect(retryDelayMs(1, 2, answer(429, { 'retry-after': '3' }), 1)).toBe(3_000)
  expect(retryDelayMs(1, 2, answer(429, { 'retry-after': '31' }), 1)).toBeNull()
  const date = 'Wed, 01 Jan 2031 00:00:00 GMT'
  const later = 'Wed, 01 Jan 2031 00:00:02 GMT'
  expect(retryDelayMs(1, 2, answer(503, { 'retry-after': later, date }), 1)).toBe(2_000)
  expect(retryDelayMs(1, 2, answer(503, { 'retry-after': later }), 1)).toBe(200)
})

it('ends a wait when the signal is aborted', async () => {
  const abort = new AbortController()
  const paused = sleep(1e6, abort.signal)
  abort.abort(new Error('enough'))
  await expect(paused).rejects.toThrow('enough')
  await expect(sleep(1e6, abort.signal)).rejects.toThrow('enough')
})
