import { expect, it } from 'vitest'
import { resolveWhen, type When } from '../time/index.ts'
import { inFlags } from './flag-words.ts'

function refusal(when: When): string {
  try {
    resolveWhen(when, { now: 0, timezone: 'UTC' })
  } catch (thrown) {
    return inFlags((thrown as Error).message)
  }
  throw new Error('it was not refused')
}

it('says by which flag, where the library says by which field', () => {
  expect(refusal({ at: 'every 15 minutes on the 3rd' })).toMatch(/give --cron for that/)
  expect(refusal({ at: 'tomorrow', count: 3 })).toBe(
    '--count belongs to recurring rules: this WHEN fires once',
  )
  expect(refusal({ delay: '5m', start: 'tomorrow' })).toBe(
    '--start belongs to recurring rules: this --delay fires once',
  )
  expect(inFlags('give { unix: seconds } or a Date')).toBe('give --unix seconds or a Date')
})

it('advises by flags', () => {
  expect(refusal({ cron: '0 9 * * 6', exclude: 'weekends' })).toMatch(
    /or say --move next or --move previous$/,
  )
  expect(refusal({ at: '1970-01-03T09:00', exclude: 'weekends' })).toMatch(
    /or say --move next or --move prev/,
  )
  expect(refusal({ every: '1h', exclude: { weekend: true, move: 'next' } })).toMatch(
    /leave out --move to skip/,
  )
  expect(refusal('tomorrow at 5pm EST')).toMatch(/give the zone with --timezone;/)
  expect(refusal({ at: 'every day until 2027-01-01', end: '2027-02-01' })).toMatch(
    /and so does --end: give one/,
  )
  expect(refusal({ cron: '0 9 * * *', exclude: 'US' })).toMatch(/'US' is not the name of a calendar/)
})

it('leaves all else as it is', () => {
  const message = `the target '{"event": 1}' is not JSON: { oops }`
  expect(inFlags(message)).toBe(message)
})
