import { describe, expect, it } from 'vitest'
import { errorOf } from '../src/client/error.ts'
import { inField, unknownField, WakefulError } from '../src/error.ts'
import {
  ERROR_CODES,
  fromWire,
  INTERFACES,
  libraryField,
  REASONS,
  type ReasonId,
  reasonOf,
  render,
  toWire,
  wireField,
} from '../src/errors/index.ts'
import { problemOf } from '../src/server/http/index.ts'
import { assertTimezone, readCalendar, resolveSince, resolveWhen, type When } from '../src/time/index.ts'
import { sampleError } from '../tools/sample-error.ts'

const NUMBERS: ReadonlySet<string> = new Set(['bytes', 'count', 'line', 'max', 'min', 'number', 'status'])

const sample = (reason: ReasonId) =>
  sampleError(reason, (name) => (NUMBERS.has(name) ? 7 : 'maxFailures'), 'maxFailures')

const IDS = Object.keys(REASONS) as ReasonId[]

describe('every reason', () => {
  it.each(IDS)('%s renders in every interface without leftovers', (reason) => {
    for (const where of INTERFACES) {
      const text = render(sample(reason), where)
      expect(text).not.toMatch(/undefined|\[object|NaN|\$\{| {2}|\.\.(?![.\d])/)
      expect(text).not.toBe('')
      if (where !== 'library') expect(text).not.toMatch(/`maxFailures`/)
      if (where === 'cli') expect(text).not.toMatch(/`--/)
    }
  })

  it.each(IDS)('%s has one of the codes', (reason) => {
    expect(ERROR_CODES).toContain(reasonOf(reason)!.code)
  })

  it.each(IDS)('%s has an id and parameters that are the same in TypeScript and JSON', (reason) => {
    expect(reason).toMatch(/^[a-z]+(?:\.[a-z0-9_]+)?$/)
    for (const name of Object.keys(sample(reason).params)) expect(name).toMatch(/^[a-z]+$/)
  })

  it.each(IDS)('%s has values as parameters, and no words that the code wrote', (reason) => {
    const words = ['advice', 'description', 'detail', 'hint', 'message', 'problem', 'sentence', 'why']
    for (const name of Object.keys(sample(reason).params)) expect(words).not.toContain(name)
  })

  it.each(IDS)('%s comes back from the wire as it was thrown', (reason) => {
    const thrown = sample(reason)
    const problem = problemOf(thrown, 'operators')
    const read = errorOf(problem.status, JSON.stringify(problem), 'http://alarms.test')
    if (reason === 'request.no_such_call') return expect(read.reason).toBe('client.wrong_address')
    expect(dataOf(read)).toEqual(dataOf(thrown))
  })
})

function dataOf({ code, reason, params, field, message, errors }: WakefulError): unknown {
  return { code, reason, params, field, message, errors: errors?.map(dataOf) }
}

it('an error within another comes back from the wire with it', () => {
  const ics = 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260230\nEND:VEVENT\nEND:VCALENDAR'
  const thrown = thrownBy(() => readCalendar('us', { ics }, 0))
  expect(thrown.message).toMatch(/^`ics`: DTSTART '20260230' does not exist.* This is in line 3 of/)
  const problem = problemOf(thrown)
  const read = errorOf(problem.status, JSON.stringify(problem), 'http://alarms.test')
  expect(dataOf(read)).toEqual(dataOf(thrown))
})

describe('an error about one input names it', () => {
  const context = { now: 0, timezone: 'UTC' }
  const set = (when: When) => () => resolveWhen(when, context)
  it.each<[field: string, flag: string, () => unknown]>([
    ['when', 'WHEN', set('soonish')],
    ['when', 'WHEN', set('every february 30')],
    ['at', 'WHEN', set({ at: 'soonish' })],
    ['at', 'WHEN', set({ at: new Date(Number.NaN) })],
    ['unix', '--unix', set({ unix: 1e12 })],
    ['delay', '--delay', set({ delay: '5' })],
    ['cron', '--cron', set({ cron: '0 25 * * *' })],
    ['cron', '--cron', set({ cron: 'TZ=Mars/Phobos 0 9 * * *' })],
    ['cron', '--cron', set({ cron: '0 0 30 2 *' })],
    ['every', '--every', set({ every: '5' })],
    ['rrule', '--rrule', set({ rrule: 'FREQ=NEVER' })],
    ['rrule', '--rrule', set({ rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' })],
    ['start', '--start', set({ every: '1h', start: 'soonish' })],
    ['end', '--end', set({ every: '1h', end: '1969-01-01' })],
    ['jitter', '--jitter', set({ every: '1h', jitter: '5' })],
    ['misfire.all.within', '--misfire-within', set({ every: '1h', misfire: { all: { within: '5' } } })],
    ['timezone', '--timezone', set({ cron: '0 9 * * *', timezone: 'Mars/Phobos' })],
    ['timezone', '--timezone', () => assertTimezone('+01:00')],
    ['exclude', '--exclude', set({ cron: '0 9 * * *', exclude: 'us' })],
    ['exclude.move', '--move', set({ cron: '0 9 * * *', exclude: { move: 'next' } })],
    ['exclude.offset', '--offset', set({ cron: '0 9 * * *', exclude: { weekend: true, offset: 1 } })],
    ['exclude.weekend', '--exclude', set({ cron: '0 9 * * *', exclude: { weekend: ['caturday'] } })],
    ['since', '--since', () => resolveSince('soonish', context)],
    ['dates', 'DATES', () => readCalendar('us', { dates: ['tomorrow'] }, 0)],
    ['weekend', '--weekend', () => readCalendar('us', { weekend: ['caturday'] }, 0)],
  ])('%s, %s', (field, flag, work) => {
    const thrown = thrownBy(work)
    expect(thrown.field).toBe(field)
    expect(thrown.message).toContain(`\`${field}\``)
    expect(render(thrown, 'wire')).toContain(`\`${wireField(field)}\``)
    expect(render(thrown, 'cli')).toContain(flag)
  })
})

function thrownBy(work: () => unknown): WakefulError {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof WakefulError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}

describe('an error', () => {
  it('names its field once', () => {
    const error = new WakefulError('since.malformed', { text: "'soonish'" }, { field: 'since' })
    expect(error.message).toMatch(/^`since` 'soonish' is not a time\. /)
    expect(render(error, 'cli')).toMatch(/^--since 'soonish' is not a time\. /)
  })

  it('has the names of the library, and others on request', () => {
    const error = new WakefulError('field.empty', {}, { field: 'idempotencyKey' })
    expect(error).toMatchObject({ code: 'invalid_request', reason: 'field.empty', params: {} })
    expect(error.message).toBe('`idempotencyKey` is empty. Set a value, or leave it out.')
    expect(render(error, 'wire')).toBe('`idempotency_key` is empty. Set a value, or leave it out.')
    expect(render(error, 'cli')).toBe('--idempotency-key is empty. Set a value, or leave it out.')
  })

  it('names its field first if its text does not', () => {
    const error = new WakefulError('duration.no_unit', { text: "'5'" }, { field: 'completionTimeout' })
    expect(render(error, 'wire')).toMatch(/^`completion_timeout`: '5' has no unit\./)
    expect(render(error, 'cli')).toMatch(/^--completion-timeout: '5' has no unit\./)
  })

  it('names the part of a flag that takes JSON', () => {
    const error = (field: string) =>
      new WakefulError('field.invalid', { expected: 'a string', value: 'a number' }, { field })
    expect(render(error('target.webhook'), 'cli')).toBe('--target: webhook must be a string, not a number.')
    expect(render(error('onFailure.headers.A'), 'cli')).toMatch(/^--on-failure: headers\.A must be /)
    expect(render(error('target.pool'), 'cli')).toMatch(/^--pool must be /)
    expect(render(error('target.webhook'), 'wire')).toMatch(/^`target\.webhook` must be /)
  })

  it('takes the parameters that its text names, and no others', () => {
    // @ts-expect-error {name} is missing
    expect(new WakefulError('alarm.not_found', {}).message).toBe('There is no alarm .')
    // @ts-expect-error the text has no {status}
    expect(new WakefulError('alarm.not_found', { name: 'x', status: 'active' }).params.name).toBe('x')
  })

  it('shows a value as it is, even if it looks like a part of a template', () => {
    const error = new WakefulError('alarm.not_found', { name: '{name} <cron> $&' })
    expect(error.message).toBe('There is no alarm {name} <cron> $&.')
  })

  it('gathers the path of its field on the way out', () => {
    const refuse = () => {
      throw new WakefulError('field.empty', {})
    }
    const nested = () => inField('items[1]', () => inField('delay', refuse))
    expect(nested).toThrow(expect.objectContaining({ field: 'items[1].delay', reason: 'field.empty' }))
  })

  it('suggests the known name that was probably meant', () => {
    const error = unknownField('maxFailurs', ['label', 'maxFailures'])
    expect(error.params).toEqual({
      name: 'maxFailurs',
      fields: ['label', 'maxFailures'],
      other: 'maxFailures',
    })
    expect(render(error, 'wire')).toBe(
      'Unknown field "maxFailurs". Did you mean `max_failures`? Known: `label`, `max_failures`.',
    )
  })

  it('of a reason that this version does not know keeps its text', () => {
    const error = WakefulError.from({
      code: 'conflict',
      reason: 'brand.new',
      params: { a: 1 },
      message: 'As it said.',
    })
    expect(render(error, 'cli')).toBe('As it said.')
    expect(reasonOf('brand.new')).toBeUndefined()
  })
})

it('names fields on the wire and back', () => {
  for (const field of ['at', 'cron', 'message', 'maxFailures', 'backoff.baseMs', 'items[12].dst.gap'])
    expect(libraryField(wireField(field))).toBe(field)
  expect(wireField('items[0].backoff.baseMs')).toBe('items[0].backoff.base_ms')
  expect(toWire(unknownField('x', ['cron']))).toMatchObject({ params: { fields: ['cron_expr'] } })
  expect(fromWire({ reason: 'field.needs', params: { other: 'cron_expr' }, field: 'fire_at' })).toEqual({
    reason: 'field.needs',
    params: { other: 'cron' },
    field: 'at',
  })
})
