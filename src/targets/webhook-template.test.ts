import { describe, expect, test } from 'vitest'
import {
  type Alarm,
  buildAlarm,
  DEFAULT_LIMITS,
  DEFAULTS,
  firstTimer,
  rawJson,
  type SetOptions,
  type Timer,
} from '../alarm/index.ts'
import { userIdOf } from '../seeds/index.ts'
import { resolveWhen } from '../time/index.ts'
import { WAKE_FIELDS, type Wake, wakeJson } from './wake-body.ts'
import { fillTemplate, readTemplate } from './webhook-template.ts'

const NOW = Date.UTC(2030, 0, 1)

function wakeOf(options: SetOptions = {}, owner = 'did:matrix:@ann:example.org:fp'): Wake {
  const resolved = resolveWhen({ delay: '1h' }, { now: NOW, timezone: 'UTC' })
  const buildContext = {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: () => ({ kind: 'webhook', name: 'https://example.com/', pool: 'wakeful' }),
    newId: () => 'the-id',
  }
  const alarm: Alarm = buildAlarm(
    { tenant: 't', owner },
    resolved,
    { target: 'x', ...options },
    NOW,
    buildContext,
  )
  const timer: Timer = {
    ...firstTimer(alarm, resolved),
    id: 1,
    shard: 1,
    version: 1,
    edited: false,
    report: null,
  }
  return { alarm, timer, firedAt: NOW + 3_600_007 }
}

const ODD = '{"z":9007199254740993,"a" : [1.10, 1e400, "\\u00e9", "é"],"z":2 }'

describe('the standard body', () => {
  test('has the fields of the contract, in their order', () => {
    const body = wakeJson(
      wakeOf({
        label: 'l',
        key: 'k',
        message: 'up "now"\n',
        conversationId: 'c',
        payload: { a: 1 },
        subject: 's',
        correlationId: 'co',
      }),
    )
    expect(body).toBe(
      '{"alarm_id":"the-id","occurrence_id":"the-id-1-1893459600000","scheduled_for":"2030-01-01T01:00:00.000Z",' +
        '"fired_at":"2030-01-01T01:00:00.007Z","drift_ms":7,"attempt":1,"label":"l","key":"k",' +
        '"owner":"did:matrix:@ann:example.org:fp","user_id":"@ann:example.org","conversation_id":"c",' +
        '"wake_message":"up \\"now\\"\\n","payload":{"a":1},"correlation_id":"co","subject":"s"}',
    )
  })

  test('has all fields, even if most were not set', () => {
    const body = JSON.parse(wakeJson(wakeOf({}, ''))) as Record<string, unknown>
    expect(Object.keys(body)).toEqual(WAKE_FIELDS)
    expect(body).toMatchObject({
      label: '',
      key: null,
      owner: '',
      user_id: '',
      conversation_id: '',
      payload: {},
    })
    expect(body).toMatchObject({ wake_message: '', subject: null, correlation_id: 'the-id' })
  })

  test('has the payload byte for byte', () => {
    expect(wakeJson(wakeOf({ payload: rawJson(ODD) }))).toContain(`"payload":${ODD},"correlation_id"`)
  })

  test.each([
    ['did:matrix:@ann:example.org:abc', '@ann:example.org'],
    ['did:matrix:ann:abc', 'ann'],
    ['did:matrix:ann', 'did:matrix:ann'],
    ['did:matrix:', 'did:matrix:'],
    ['did:web:example.org:abc', 'did:web:example.org:abc'],
    ['ann', 'ann'],
    ['', ''],
  ])('the user of owner %s is %s', (owner, user) => expect(userIdOf(owner)).toBe(user))
})

describe('a template', () => {
  const wake = wakeOf({ message: 'say "hi"', payload: rawJson(ODD), label: 'l' })
  const fill = (template: unknown, of = wake) => fillTemplate(readTemplate(template), of)

  test('replaces a string that is one placeholder with the JSON value, the payload byte for byte', () => {
    expect(fill({ all: '{{payload}}', n: '{{ drift_ms }}', key: '{{key}}' })).toBe(
      `{"all":${ODD},"n":7,"key":null}`,
    )
  })

  test('fills placeholders into strings, escaped for JSON', () => {
    expect(
      fill({ text: 'Wake: {{wake_message}} ({{attempt}}){{key}}', list: [1, true, null, '{{label}}!'] }),
    ).toBe('{"text":"Wake: say \\"hi\\" (1)","list":[1,true,null,"l!"]}')
  })

  test('reads fields of the payload, and keeps every digit of its numbers', () => {
    const payload = rawJson('{"a":{"b":[10,{"c":9007199254740993}],"d":"x"},"__proto__":{"e":1}}')
    const of = wakeOf({ payload })
    expect(fill(['{{payload.a.b.1.c}}', '{{payload.a.d}}', '{{payload.a.b}}'], of)).toBe(
      '[9007199254740993,"x",[10,{"c":9007199254740993}]]',
    )
    expect(
      fill(
        ['{{payload.no}}', '{{payload.a.toString}}', '{{payload.a.b.length}}', 'n={{payload.a.b.1.c}}'],
        of,
      ),
    ).toBe('[null,null,2,"n=9007199254740993"]')
    expect(fill(['{{payload.a}}'], wakeOf())).toBe('[null]')
  })

  test('that is a string becomes text, not JSON', () => {
    expect(fill('{{label}}: {{wake_message}} {{payload.z}} {not one} {{')).toBe('l: say "hi" 2 {not one} {{')
  })

  test('does not replace placeholders in values that were filled in', () => {
    const nested = wakeOf({ message: '{{owner}}', label: '$&$1' })
    expect(fill({ a: 'x {{wake_message}}', b: '{{label}} y' }, nested)).toBe(
      '{"a":"x {{owner}}","b":"$&$1 y"}',
    )
  })

  test.each([
    [{ a: '{{mesage}}' }, /"{{mesage}}"\. Known: alarm_id/],
    [['x {{}}'], /Known: /],
    [{ a: '{{payload.}}' }, /Known: /],
    [{ a: '{{payload..b}}' }, /Known: /],
    [{ a: '{{alarm.target}}' }, /Known: /],
    [{ a: '{{constructor}}' }, /Known: /],
    [{ '{{key}}': 1 }, /Placeholders work in values only/],
    ['a'.repeat(65_536), /At most 65536/],
    [() => 1, /JSON or text/],
    [1n, /JSON or text/],
    [{ a: '\ud800' }, /surrogate/],
    [Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1), /nested deeper/],
  ])('is refused if it is invalid (case %#)', (template, message) => {
    expect(() => readTemplate(template)).toThrow(message)
  })

  test('has at most 100 placeholders', () => {
    const of = (count: number) => ['{{label}} '.repeat(count - 1), '{{payload}}']
    expect(fill(of(100))).toContain(ODD)
    expect(() => readTemplate(of(101))).toThrow('The value has 101 placeholders. At most 100 are allowed.')
    expect(() => readTemplate('{{payload}}'.repeat(5_000))).toThrow('has 5000 placeholders')
  })

  test.each([
    ['as values', Array(2_000).fill('{{payload}}')],
    ['as text', '{{payload}}'.repeat(2_000)],
    ['within a value', { a: '{{payload}}'.repeat(2_000) }],
    ['by a path', Array(2_000).fill('{{payload.a}}')],
    ['of few characters but many bytes', Array(6).fill('{{payload}}')],
  ])(
    'from an earlier version without that limit fails for good if it becomes too large: %s',
    (what, template) => {
      const of = wakeOf({ payload: { a: (what.includes('bytes') ? 'é' : 'e').repeat(120_000) } })
      const refused = expect.objectContaining({
        final: true,
        message: expect.stringMatching(/more than 1 MiB beside the payload/),
      })
      expect(() => fillTemplate(template, of)).toThrow(refused)
    },
  )

  test('makes the JSON of a value once, however often it is used', () => {
    let reads = 0
    const { alarm, ...rest } = wakeOf()
    const counted = Object.defineProperty({ ...alarm }, 'label', { get: () => `l${++reads}` })
    const template = readTemplate(['{{label}}', 'is {{ label }}', { a: '{{label}}{{label}}' }])
    expect(fillTemplate(template, { ...rest, alarm: counted })).toBe('["l1","is l1",{"a":"l1l1"}]')
  })

  // The first took hours when the pattern matched spaces around a name. The others are as long and could be as slow.
  test.each([
    ['spaces after an opening', `{{${' '.repeat(65_000)}x`],
    ['openings', '{'.repeat(65_000)],
    ['openings with spaces', '{{ '.repeat(21_000)],
    ['half closings', '{{x} '.repeat(13_000)],
    ['spaces within a placeholder that is one', `{{${' '.repeat(32_000)}label${' '.repeat(32_000)}}}`],
    ['backslashes', '\\'.repeat(32_000)],
  ])('is read and filled in at once if it is only %s', (_, template) => {
    const isFilled = template.includes('label')
    expect(fill(template)).toBe(isFilled ? 'l' : template)
    expect(fill([template])).toBe(JSON.stringify([isFilled ? 'l' : template]))
  })
})
