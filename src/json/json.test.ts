import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RawJson, readJson, type Verbatim } from './json.ts'

const PAYLOAD: Verbatim = { payload: true, items: { payload: true } }

describe('reading JSON', () => {
  it('reads the same as JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, isWide) => {
        const text = JSON.stringify(value, null, isWide ? 2 : 0)
        expect(readJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('rejects what JSON.parse rejects', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.string({ maxLength: 2 }), (value, place, noise) => {
        const text = JSON.stringify(value)
        const at = place % (text.length + 1)
        const spoiled = text.slice(0, at) + noise + text.slice(at + 1)
        let parsed: unknown
        try {
          parsed = JSON.parse(spoiled)
        } catch {
          expect(() => readJson(spoiled)).toThrow(/is not JSON|appears twice/)
          return
        }
        // A name that has become another's is the one thing in which the two differ.
        try {
          expect(readJson(spoiled)).toEqual(parsed)
        } catch (thrown) {
          expect(String(thrown)).toMatch(/appears twice/)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('keeps verbatim members as text', () => {
    const payload = '{"b": 9007199254740993,\n "a":1e400, "2":"\\u00e9é", "1":{"payload":[1.0]}}'
    const body = readJson(`{"label":"x","payload": ${payload} ,"n":1}`, PAYLOAD) as Record<string, unknown>
    expect((body.payload as RawJson).text).toBe(payload)
    expect(body.label).toBe('x')
    expect(body.n).toBe(1)
    const items = readJson(`{"items":[{"payload":1.50},{"payload":null}]}`, PAYLOAD) as {
      items: { payload: RawJson }[]
    }
    expect(items.items.map(({ payload }) => payload.text)).toEqual(['1.50', 'null'])
  })

  it('names the verbatim member that cannot be stored', () => {
    expect(() => readJson('{"payload":"\ud83d"}', PAYLOAD)).toThrow(
      expect.objectContaining({ reason: 'field.lone_surrogate', field: 'payload' }),
    )
  })

  it('keeps members as text only at their place', () => {
    const text =
      '{"target":{"payload":{"x":1},"items":[{"payload":2}]},"constructor":{"payload":3},"items":[[{"payload":4.0}]]}'
    expect(readJson(text, PAYLOAD)).toEqual({
      ...(JSON.parse(text) as object),
      items: [[{ payload: new RawJson('4.0') }]],
    })
  })

  it('rejects a repeated name, except inside a verbatim member', () => {
    expect(() => readJson('{"a":1,"a":2}', PAYLOAD)).toThrow('"a" appears twice')
    expect(() => readJson('{"payload":1,"payload":2}', PAYLOAD)).toThrow('"payload" appears twice')
    expect(readJson('{"payload":{"a":1,"a":2}}', PAYLOAD)).toEqual({ payload: new RawJson('{"a":1,"a":2}') })
  })

  it('treats __proto__ like any other name', () => {
    const read = readJson('{"__proto__":{"polluted":true}}') as object
    expect(Object.keys(read)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('limits nesting', () => {
    for (const depth of [101, 10_000, 500_000]) {
      expect(() => readJson('['.repeat(depth) + ']'.repeat(depth))).toThrow('nested deeper than 100')
      expect(() => readJson(`{"payload":${'{"a":'.repeat(depth)}1${'}'.repeat(depth + 1)}`, PAYLOAD)).toThrow(
        'nested deeper than 100',
      )
    }
    expect(readJson('['.repeat(100) + ']'.repeat(100))).toBeInstanceOf(Array)
  })

  it('names the position of an error', () => {
    expect(() => readJson('{"a" 1}')).toThrow(
      'The body is not JSON: expected a colon at character 5, found "1}".',
    )
    expect(() => readJson('{"a":')).toThrow(
      'The body is not JSON: expected a value at character 5, found the end of the text.',
    )
    expect(() => readJson('')).toThrow('expected a value at character 0')
  })
})
