import { reasons } from '../reason.ts'

const SINCE_FORMS =
  'Use an instant (2026-12-24T18:00:00Z), seconds since 1970, or a duration, which means that long ago (2h, 7d).'
const ZONE_FORMS = "Use an IANA name such as 'Europe/Rome' or 'UTC'."

/** Refusals about times. `text` is what was written, quoted. */
export const TIME_REASONS = reasons('invalid_time', {
  // Zones, times, and times to list from.
  'timezone.offset': `invalid_timezone: {zone} is an offset, which ignores daylight saving time. ${ZONE_FORMS}`,
  'timezone.unknown': {
    code: 'invalid_timezone',
    text: ({ zone, near }: { zone: string; near: string | null }) =>
      `${zone} is not a known time zone. ${near === null ? ZONE_FORMS : `Did you mean '${near}'?`}`,
  },
  'timezone.twice': 'invalid_rule: {other} names the zone {named} and {field} is {zone}. Use one of them.',
  'when.recurring_only':
    'invalid_request: {field} belongs to recurring rules. This {other} fires once. Leave {field} out.',
  'when.misfire_all_once':
    'invalid_request: <misfire=all> belongs to recurring rules. This {other} fires once. Use <misfire=once> or <misfire=skip>.',
  'when.said_twice': 'invalid_request: {text} and {field} both set the {option}. Use one of them.',
  'when.misfire': {
    code: 'invalid_request',
    text: ({ value }: { value: string }, words) => {
      const all = words.object({ all: { max: 1000, within: '24h' } })
      return `${words.it} must be 'once', 'skip', 'all' or ${all}, not ${value}.`
    },
  },
  'when.misfire_within': "invalid_request: <misfire.all.within> '0s' would fire none. Use <misfire=skip>.",
  'since.malformed': `{field} {text} is not a time. ${SINCE_FORMS}`,
  'since.recurs': `{field} {text} recurs, so it names no single instant. ${SINCE_FORMS}`,
  'since.future': `{field} {text} is {instant}, which is in the future. ${SINCE_FORMS}`,
  'clock.backwards': 'Cannot advance by {by}: time only moves forwards. Use jump to set the wall clock.',
  'clock.fake_timers':
    'invalid_request: Fake timers have replaced setImmediate, with which the virtual clock waits for work. Do not use fake timers in this test, or let them keep it: vi.useFakeTimers({ toFake: ["Date"] }) or jest.useFakeTimers({ doNotFake: ["setImmediate"] }).',
  'clock.past': 'Cannot advance to {to}: the clock is already at {now}. Use jump to set the wall clock.',
})
