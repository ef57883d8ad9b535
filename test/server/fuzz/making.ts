import type { Random } from '../../random.ts'
import { resolved, type Schema } from './document.ts'
import type { Known } from './request.ts'

const KINDS = ['fire_at', 'delay', 'when', 'cron_expr', 'rrule', 'every']

/** Texts that are meaningful for a field of this name. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  fire_at: [
    '2030-01-01T09:00:00Z',
    '2030-03-31T02:30:00',
    '1999-01-01T00:00:00Z',
    '+275760-09-13',
    '2030-02-30',
  ],
  delay: ['1h', '0s', '10ms', 'PT5M', '9999y', '1w', '400000w'],
  when: ['tomorrow at 9am', 'every weekday at 9:30', 'in 5 minutes', 'never', 'on 31 february'],
  cron_expr: ['0 9 * * 1-5', '@every 5m', '*/10 * * * * *', '0 0 30 2 *', '@reboot', '0 0 29 2 *'],
  rrule: [
    'FREQ=DAILY',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'DTSTART:20300101T090000Z\nRRULE:FREQ=WEEKLY;COUNT=3',
    'FREQ=SECONDLY;INTERVAL=1',
  ],
  every: ['5m', '1s', '1ms', '0s', '10000y', '1d'],
  timezone: ['UTC', 'Europe/Rome', 'America/New_York', 'Mars/Base', '+05:30', 'utc'],
  start: ['2030-01-01T00:00:00Z', 'now', '1970-01-01'],
  end: ['2031-01-01T00:00:00Z', '1970-01-01', 'tomorrow'],
  from: ['2030-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2030-13-01T00:00:00Z', '0000-01-01'],
  since: ['0', '1e3', '999999999999', '2030-01-01T00:00:00Z', 'yesterday', '-1', '1.5'],
  jitter: ['1s', '1h', '500w'],
  wait: ['0s', '1ms', '20ms', '61s', 'soon', '10000w'],
  hold: ['1ms', '60s', '2h', '0s'],
  timeout: ['1s', '30s', '0s', '25d'],
  completion_timeout: ['1s', '5m', '0s', '9000w'],
  expires_in: ['1h', '0s', '500000w', '9999w'],
  grace: ['0s', '1h', '500000w'],
  min_interval: ['1m', '0s', '1ms', 'x'],
  type: ['order.paid', 'alarm.fired', 'a', '.', 'a..b', 'admin.x'],
  q: ['word', '%', '_', "' OR 1=1 --", '\\', '*'],
  subject: ['s-1', 's-2'],
  label: ['l'],
  key: ['k-1', 'k-2', 'a/b c'],
  tenant: ['acme', 'paused', 'nobody', '*', '__proto__', 'toString'],
  target: ['https://example.invalid/x', 'inbox', 'some-handler', 'default'],
  exclude: ['weekends', 'no-such-calendar'],
  token: ['wf_nonsense'],
  after: ['newest', '0', '-1', '99999999999999999999'],
}

const TARGETS: readonly unknown[] = [
  { event: true },
  { event: true },
  'inbox',
  { inbox: true },
  { default: true },
  { webhook: 'https://example.invalid/x' },
  { webhook: 'http://127.0.0.1:9/' },
  { webhook: 'https://example.invalid/', method: 'PUT', headers: { 'x-a': 'b' }, body: { a: '{{label}}' } },
  { webhook: 'file:///etc/passwd' },
  { webhook: 'https://u:p@example.invalid/' },
  { webhook: 'https://example.invalid/', headers: { 'bad name': 'x\r\ny: z' } },
  { webhook: 7 },
  { event: true, inbox: true },
  { __proto__: null, constructor: {} },
  'some-handler',
  {},
]

const JUNK_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfff',
  '😀'.repeat(300),
  'é'.repeat(513),
  '\u202e\u2066rtl',
  'x'.repeat(70_000),
  '__proto__',
  'constructor',
  "'; DROP TABLE alarms; --",
  '../../etc/passwd',
  '%00%2e%2e/',
  '\r\nset-cookie: a=b',
  '{{7*7}}',
  'NaN',
  '-0',
  '1e999',
  '9'.repeat(400),
  '\ufeff',
  '\u2028\u2029',
  'İ'.normalize('NFD'),
]

const JUNK_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  0.5,
  1,
  501,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  -1e308,
  5e-324,
  8.64e15,
  8.64e15 + 1,
]

/** Valid cursors that point nowhere. */
const TAMPERED_CURSORS: readonly string[] = [
  'list:9223372036854775808',
  'list:-9223372036854775809',
  'list:1:9223372036854775807',
  'list:1:2:3',
  'events:9223372036854775808',
  'events:-1',
].map((place) => btoa(place).replaceAll('=', ''))

/** Generates values from schemas: valid ones with a wildness of 0, some invalid ones above. */
export class Making {
  readonly #random: Random
  readonly #known: Known

  constructor(random: Random, known: Known) {
    this.#random = random
    this.#known = known
  }

  value(declared: Schema, name: string, wildness: number): unknown {
    if (this.#random.chance(wildness / 3)) return this.junk()
    const isTarget = declared.$ref?.endsWith('/Target') === true
    if (isTarget || name === 'target' || name === 'on_failure') return this.#pick(TARGETS)
    const schema = resolved(declared)
    if (schema.anyOf !== undefined) return this.value(this.#pick(schema.anyOf), name, wildness)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return this.#pick(schema.enum)
    const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
    if (type === 'string') return this.text(schema, name, wildness)
    if (type === 'integer' || type === 'number') return this.#number(schema, wildness)
    if (type === 'boolean') return this.#random.chance(0.5)
    if (type === 'array') return this.#list(schema, name, wildness)
    if (type === 'object') return this.#object(schema, wildness)
    return this.#json(3)
  }

  /** A text, for bodies, paths and queries. */
  text(declared: Schema, name: string, wildness: number): string {
    if (this.#random.chance(wildness)) return this.junkText()
    const schema = resolved(declared)
    const known = this.#knownOf(name)
    if (known.length > 0 && this.#random.chance(0.7)) return this.#pick(known)
    const meant = Object.hasOwn(MEANT, name) ? MEANT[name]! : []
    if (meant.length > 0 && this.#random.chance(0.9)) return this.#pick(meant)
    if (schema.enum !== undefined) return String(this.#pick(schema.enum))
    if (schema.anyOf !== undefined) return this.text(this.#pick(schema.anyOf), '', wildness)
    if (schema.const !== undefined) return String(schema.const)
    if (schema.type === 'integer' || schema.type === 'number') return String(this.#number(schema, wildness))
    if (schema.pattern !== undefined) return '0123456789abcdef'
    if (schema.examples !== undefined) return String(this.#pick(schema.examples))
    return this.#word(Math.min(schema.maxLength ?? 40, 40))
  }

  junkText(): string {
    return this.#random.chance(0.8) ? this.#pick(JUNK_TEXTS) : this.#word(this.#random.between(0, 600))
  }

  asciiText(): string {
    return this.#word(20).replace(/[^\x20-\x7e]/g, '?')
  }

  junk(): unknown {
    return this.#random.weighted<() => unknown>([
      [3, () => this.junkText()],
      [3, () => this.#pick(JUNK_NUMBERS)],
      [1, () => null],
      [1, () => this.#random.chance(0.5)],
      [1, () => []],
      [1, () => ({})],
      [1, () => this.#json(4)],
      [1, () => nested(this.#random.between(50, 3_000))],
      [
        1,
        () =>
          JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as unknown,
      ],
    ])()
  }

  #knownOf(name: string): readonly string[] {
    const { alarms, occurrences, keys, cursors } = this.#known
    if (name === 'id') return this.#random.chance(0.5) ? alarms : keys
    if (name === 'alarm_id') return alarms
    if (name === 'occurrence_id') return occurrences
    if (name !== 'cursor' && name !== 'after') return []
    return this.#random.chance(0.8) ? cursors : TAMPERED_CURSORS
  }

  #number({ minimum = 0, maximum, exclusiveMinimum, type }: Schema, wildness: number): number {
    if (this.#random.chance(wildness)) return this.#pick(JUNK_NUMBERS)
    const low = Math.max(minimum, exclusiveMinimum === undefined ? minimum : exclusiveMinimum + 1, -1e6)
    const high = Math.min(maximum ?? low + 1_000, low + 1_000_000)
    const whole = this.#random.weighted([
      [1, low],
      [1, high],
      [2, this.#random.between(low, Math.min(high, low + 20))],
    ])
    return type === 'number' && this.#random.chance(0.3) ? whole + 0.5 : whole
  }

  #list({ items = {}, minItems = 0 }: Schema, name: string, wildness: number): unknown[] {
    const length = this.#random.chance(wildness / 10) ? 1_001 : this.#random.between(minItems, minItems + 3)
    return Array.from({ length }, () => this.value(items, name, length > 10 ? 0 : wildness))
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, wildness: number): object {
    const fields: [string, unknown][] = []
    const isTime = KINDS.every((kind) => Object.hasOwn(properties, kind))
    const kinds = isTime && !this.#random.chance(wildness / 2) ? [this.#pick(KINDS)] : []
    if (isTime && Object.hasOwn(properties, 'target')) kinds.push('target')
    for (const [name, schema] of Object.entries(properties)) {
      const isWanted = required.includes(name)
        ? !this.#random.chance(wildness / 3)
        : this.#random.chance(0.12)
      const isKind = kinds.includes(name)
      if (isKind || (isWanted && !(isTime && KINDS.includes(name) && kinds.length > 0)))
        fields.push([name, this.value(schema, name, wildness)])
    }
    if (typeof additionalProperties === 'object' && this.#random.chance(0.5))
      fields.push([this.#word(5), this.value(additionalProperties, '', wildness)])
    if (this.#random.chance(wildness / 3)) fields.push([this.junkText(), this.junk()])
    return Object.fromEntries(fields)
  }

  #json(depth: number): unknown {
    return this.#random.weighted<() => unknown>([
      [2, () => this.#word(10)],
      [2, () => this.#random.between(-1_000, 1_000)],
      [1, () => null],
      [depth, () => Array.from({ length: this.#random.between(0, 3) }, () => this.#json(depth - 1))],
      [depth, () => ({ [this.#word(4)]: this.#json(depth - 1), [this.#word(4)]: this.#json(depth - 1) })],
    ])()
  }

  #word(length: number): string {
    const signs = this.#random.weighted([
      [5, 'abcdefghij-_.:0123456789'],
      [1, 'äöü€😀한字 \t"\\/%&?#'],
    ])
    return Array.from({ length: this.#random.between(1, Math.max(1, length)) }, () =>
      this.#pick([...signs]),
    ).join('')
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.between(0, list.length - 1)]!
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let n = 0; n < depth; n++) value = n % 2 === 0 ? [value] : { a: value }
  return value
}
