import { expect, it } from 'vitest'
import { readSetFlags } from './set-arguments.ts'

it('is printed by serve without a target', () => {
  expect(readSetFlags({ message: 'hi' })).toEqual({
    message: 'hi',
    target: { handler: 'print', pool: 'cli' },
  })
})

it('reads every kind of target', () => {
  expect(readSetFlags({ target: 'remind' }).target).toBe('remind')
  expect(readSetFlags({ target: 'remind', pool: 'jobs' }).target).toEqual({ handler: 'remind', pool: 'jobs' })
  expect(readSetFlags({ target: '{"event":true}' }).target).toEqual({ event: true })
  expect(readSetFlags({ target: 'https://example.com/x' }).target).toEqual({
    webhook: 'https://example.com/x',
  })
  expect(readSetFlags({ event: true, onFailure: 'mourn' })).toEqual({
    target: { event: true },
    onFailure: 'mourn',
  })
})

it('converts durations of the backoff to milliseconds', () => {
  expect(readSetFlags({ event: true, backoffBase: '2s', backoffCap: '1m' }).backoff).toEqual({
    baseMs: 2000,
    capMs: 60_000,
  })
  expect(readSetFlags({ event: true, backoffCap: '1m' }).backoff).toEqual({ capMs: 60_000 })
})

it.each([
  [{ event: true, target: 'remind' }, /`event` and `target` exclude each other/],
  [{ pool: 'jobs' }, /`pool` needs `target`/],
  [{ target: '{oops' }, /not JSON/],
  [{ target: ' ' }, /is empty/],
  [{ backoffBase: 'soon' }, /`backoff.baseMs`: .*not a duration/],
])('rejects %j', (flags, message) => {
  expect(() => readSetFlags(flags)).toThrow(message)
})
