import { describe, expect, test } from 'vitest'
import { DeliveryFailure } from './targets.ts'
import { isServerError, readRetryAfter, receiptOf } from './webhook-answer.ts'

const NOW = Date.UTC(2030, 0, 1)
const answer = (status: number, body: string | null = null, retryAfter: string | null = null) => ({
  status,
  body,
  retryAfter,
})

function resultOf(status: number): string {
  try {
    receiptOf(answer(status), 'https://example.com', NOW, 1)
    return 'delivered'
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DeliveryFailure)
    const { final, gone, message } = thrown as DeliveryFailure
    expect(message).toContain(`HTTP ${status} from https://example.com`)
    if (gone) return 'gone'
    return final ? 'failed at once' : 'retried'
  }
}

function expected(status: number): string {
  if (status >= 200 && status <= 299) return 'delivered'
  if (status === 410) return 'gone'
  return [408, 425, 429].includes(status) || (status >= 500 && status <= 599) ? 'retried' : 'failed at once'
}

test('a status is a success, a retry, a final failure or "gone", as documented', () => {
  const table = (of: (status: number) => string) =>
    Object.fromEntries(STATUSES.map((status) => [status, of(status)]))
  expect(table(resultOf)).toEqual(table(expected))
})

const STATUSES = Array.from({ length: 900 }, (_, index) => index + 100)

test('only a 5xx counts as a failure of the endpoint', () => {
  expect(STATUSES.filter((status) => isServerError(answer(status)))).toEqual(STATUSES.slice(400, 500))
})

describe('the body of a success', () => {
  test.each([
    ['{"complete":"done"}', 'done'],
    [' {"complete":"","more":[1]}', ''],
    ['{"complete":"a\\u0000b\\ud800"}', 'a\ufffdb\ufffd'],
    ['{"complete":true}', null],
    ['{"complete":{"a":1}}', null],
    ['{"completed":"x"}', null],
    ['{}', null],
    ['[]', null],
    ['"complete"', null],
    ['null', null],
    ['ok', null],
    ['{"complete":', null],
    ['', null],
    [null, null],
  ])('%j reports %j', (body, report) => {
    expect(receiptOf(answer(200, body), 'x', NOW, 1)).toEqual({ report })
  })

  test('with `fail` is a failed attempt, whose error is its text', () => {
    const fail = (body: string) => () => receiptOf(answer(202, body), 'x', NOW, 1)
    expect(fail('{"fail":"no space"}')).toThrow(
      expect.objectContaining({ message: 'no space', final: false }),
    )
    expect(fail('{"complete":"x","fail":"no space"}')).toThrow('no space')
    expect(fail('{"fail":""}')).toThrow('reported failure')
  })

  test('is ignored unless the status is a success', () => {
    expect(() => receiptOf(answer(500, '{"complete":"done"}'), 'x', NOW, 1)).toThrow('HTTP 500')
  })
})

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    [' 1 ', 1_000],
    ['86400', 86_400_000],
    ['99999999', 86_400_000],
    ['9'.repeat(40), 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['Tue, 01 Jan 2030 00:10:00 GMT', 600_000],
    ['Tuesday, 01-Jan-30 00:10:00 GMT', 600_000],
    ['Tue Jan  1 00:10:00 2030', 600_000],
    ['Thu, 01 Jan 2032 00:00:00 GMT', 86_400_000],
    ['0', null],
    ['-5', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['Mon, 31 Dec 2029 00:00:00 GMT', null],
    ['2030-01-01T00:10:00Z', null],
    ['Xxx, 99 Yyy 2030 99:99:99 GMT', null],
    ['', null],
    [null, null],
  ])('%j is a delay of %j ms', (text, ms) => expect(readRetryAfter(text, NOW)).toBe(ms))

  test.each([429, 503])('of a %i sets the delay of the retry', (status) => {
    expect(() => receiptOf(answer(status, null, '7'), 'x', NOW, 1)).toThrow(
      expect.objectContaining({ retryAfterMs: 7_000 }),
    )
  })

  test('is replaced, if a 429 has none, by a delay that doubles with every attempt, up to a minute', () => {
    const waits = [1, 2, 3, 7, 1_000].map((attempt) => {
      try {
        receiptOf(answer(429), 'x', NOW, attempt)
      } catch (thrown) {
        return (thrown as DeliveryFailure).retryAfterMs
      }
      return 'delivered'
    })
    expect(waits).toEqual([1_000, 2_000, 4_000, 60_000, 60_000])
    expect(() => receiptOf(answer(503), 'x', NOW, 1)).toThrow(
      expect.objectContaining({ retryAfterMs: undefined }),
    )
  })
})
