import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resolveWhen } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS, type SetOptions } from '../fields/index.ts'
import { type BuildContext, buildAlarm, editedFields, idMaker } from './alarm.ts'

const NOW = Date.UTC(2030, 0, 1)
const SCOPE = { tenant: 'acme', owner: 'ann' }
const resolved = resolveWhen({ delay: '1h' }, { now: NOW, timezone: 'UTC' })

function shop(): BuildContext {
  let ids = 0
  return {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: (spec) => ({ kind: 'handler', name: String(spec), pool: 'app' }),
    newId: () => `id-${++ids}`,
  }
}

const build = (options: SetOptions) =>
  buildAlarm(SCOPE, resolved, { target: 'remind', ...options }, NOW, shop())

test('fills in the contract’s defaults', () => {
  expect(build({})).toMatchObject({
    ...SCOPE,
    id: 'id-1',
    generation: 1,
    label: '',
    message: '',
    payload: '{}',
    key: null,
    idempotencyKey: null,
    subject: null,
    correlationId: 'id-1',
    maxFailures: 5,
    backoff: { baseMs: 5_000, capMs: 3_600_000 },
    timeoutMs: null,
    ack: 'delivery',
    completionTimeoutMs: 300_000,
    overlap: 'skip',
    priority: 0,
    onFailure: null,
    createdVia: 'library',
    createdAt: NOW,
    updatedAt: NOW,
    pausedAt: null,
    cancelledAt: null,
  })
})

test('reads durations and raises the cap to a base above it', () => {
  expect(build({ timeout: '90s', completionTimeout: 'PT10M' })).toMatchObject({
    timeoutMs: 90_000,
    completionTimeoutMs: 600_000,
  })
  expect(build({ backoff: { baseMs: 7_200_000 } }).backoff).toEqual({ baseMs: 7_200_000, capMs: 7_200_000 })
})

describe('bad input', () => {
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['a NUL in a label', { label: 'a\0' }, /`label` contains a NUL/],
    ['a lone surrogate in a key', { key: '\ud800' }, /`key` contains half/],
    ['a key of 10 KB', { key: 'k'.repeat(10_240) }, /`key` is 10240 bytes long\. At most 512/],
    ['a message of 64 KiB and one', { message: 'm'.repeat(65_537) }, /`message` is 65537 bytes/],
    ['a number for a label', { label: 7 }, /`label` must be a string/],
    ['an empty key', { key: '' }, /`key` is empty/],
    ['an empty idempotency key', { idempotencyKey: '' }, /`idempotencyKey` is empty/],
    ['an empty subject', { subject: '' }, /`subject` is empty/],
    ['an empty correlation id', { correlationId: '' }, /`correlationId` is empty/],
    ['no attempts', { maxFailures: 0 }, /`maxFailures` must be a whole number from 1/],
    ['half a try', { maxFailures: 1.5 }, /maxFailures/],
    ['attempts as text', { maxFailures: '5' }, /maxFailures/],
    ['NaN attempts', { maxFailures: Number.NaN }, /maxFailures/],
    ['a priority beyond 100', { priority: 101 }, /`priority` must be a whole number from -100 to 100/],
    ['a negative backoff', { backoff: { baseMs: -1 } }, /backoff\.baseMs/],
    ['a cap below the base', { backoff: { baseMs: 10, capMs: 5 } }, /backoff\.capMs/],
    ['a timeout of nothing', { timeout: '0s' }, /`timeout` must be greater than zero/],
    ['a timeout as a number', { timeout: 30 }, /`timeout` must be a string with a unit, such as "30s"/],
    ['an unknown ack', { ack: 'maybe' }, /`ack` must be one of delivery, report, not "maybe"/],
    ['an unknown overlap', { overlap: 'drop' }, /`overlap` must be one of/],
    ['a cyclic payload', { payload: cycle() }, /cannot be written as JSON/],
    ['a BigInt payload', { payload: 1n }, /cannot be written as JSON/],
  ]

  test.each(wrong)('refuses %s', (_, options, message) => {
    expect(() => build(options as SetOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) }),
    )
  })

  test('refuses a payload that is too large with its own code', () => {
    expect(() => build({ payload: 'x'.repeat(300_000) })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    )
  })

  test('refuses a set without a target, and says what one looks like', () => {
    expect(() => buildAlarm(SCOPE, resolved, {}, NOW, shop())).toThrow(
      /Set `target` to the name of a handler/,
    )
  })
})

describe('the fields of an edit', () => {
  const alarm = build({ label: 'old', maxFailures: 2 })
  const edit = (options: SetOptions) => editedFields(options, alarm, shop())

  test('are those that were named, and no others', () => {
    expect(edit({ label: 'new' })).toEqual({ label: 'new' })
    expect(edit({ timeout: '9s', priority: 3 })).toEqual({ timeoutMs: 9_000, priority: 3 })
    expect(edit({ target: 'other', payload: { a: 1 } })).toEqual({
      target: { kind: 'handler', name: 'other', pool: 'app' },
      payload: '{"a":1}',
    })
    expect(edit({ label: undefined } as unknown as SetOptions)).toEqual({})
  })

  test.each(['key', 'idempotencyKey', 'createdBy', 'createdVia'] as const)('cannot be %s', (name) => {
    expect(() => edit({ [name]: 'x' })).toThrow(/cannot be edited/)
  })

  test('are checked like those of a new alarm', () => {
    expect(() => edit({ label: '\0' })).toThrow(/NUL/)
  })
})

function cycle(): unknown {
  const self: unknown[] = []
  self.push(self)
  return self
}

describe('a trace context', () => {
  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  test('is kept as it was given, also over edits that do not name another', () => {
    const alarm = build({ traceparent: TRACE })
    expect(alarm.traceparent).toBe(TRACE)
    expect(build({}).traceparent).toBeNull()
    expect(editedFields({ label: 'new' }, alarm, shop())).toEqual({ label: 'new' })
    const other = TRACE.replace('01', '00')
    expect(editedFields({ traceparent: other }, alarm, shop())).toEqual({ traceparent: other })
  })

  test.each([
    '',
    'trace',
    TRACE.toUpperCase(),
    TRACE.replace(/^00/, '01'),
    `${TRACE}-more`,
    `${TRACE}\n`,
    TRACE.replace(/[0-9a-f]{32}/, '0'.repeat(32)),
    TRACE.replace(/-[0-9a-f]{16}-/, `-${'0'.repeat(16)}-`),
    7,
    null,
  ])('is refused where it is none: %j', (traceparent) => {
    expect(() => build({ traceparent: traceparent as string })).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('traceparent') }),
    )
  })
})

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('makes ids that sort by time and never repeat, however the clock steps', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 253_402_300_799_999 }),
      fc.array(fc.integer({ min: -86_400_000, max: 86_400_000 }), { maxLength: 200 }),
      (start, steps) => {
        const make = idMaker((bytes) => crypto.getRandomValues(bytes))
        let now = start
        const ids = [make(now)]
        for (const step of steps) {
          now += step
          ids.push(make(now))
        }
        for (const id of ids) expect(id).toMatch(UUID_V7)
        expect([...ids].sort((a, b) => (a < b ? -1 : 1))).toEqual(ids)
        expect(new Set(ids).size).toBe(ids.length)
      },
    ),
  )
})

test('carries the moment it was made in', () => {
  const make = idMaker((bytes) => bytes.fill(0))
  const id = make(Date.UTC(2030, 0, 1))
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.UTC(2030, 0, 1))
})

test('stays in order and unique with more ids in a millisecond than its counter holds', () => {
  const make = idMaker((bytes) => bytes.fill(0xff))
  let last = ''
  for (let i = 0; i < 400_000; i++) {
    const id = make(1_000)
    if (id <= last) expect.fail(`${id} is not after ${last}`)
    last = id
  }
  expect(last).toMatch(UUID_V7)
})

test('two processes of the same millisecond do not make the same ids', () => {
  const makers = [0, 1].map(() => idMaker((bytes) => crypto.getRandomValues(bytes)))
  const ids = makers.flatMap((make) => Array.from({ length: 5_000 }, () => make(1_000)))
  expect(new Set(ids).size).toBe(10_000)
})
