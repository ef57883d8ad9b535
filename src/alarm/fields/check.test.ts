import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RawJson, rawJson } from '../../json/index.ts'
import { assertText, DEFAULT_LIMITS, payloadText, utf8Length } from './check.ts'

const anyText = fc.string({ unit: 'binary' })

test('counts UTF-8 bytes as an encoder does', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
    }),
  )
})

describe('text', () => {
  test.each([
    ['a number', 7, /must be a string, not a number/],
    ['nothing', undefined, /must be a string, not undefined/],
    ['a NUL', 'a\0b', /NUL/],
    ['the first half of a surrogate pair', '\ud83d', /surrogate/],
    ['the second half of a surrogate pair', 'x\ude00', /surrogate/],
    ['one byte too many', 'é'.repeat(5), /10 bytes long\. At most 9/],
  ])('refuses %s', (_, value, message) => {
    expect(() => assertText('label', value, 9)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) }),
    )
  })

  test('takes everything else as it is', () => {
    for (const text of ['', 'é'.repeat(4), '🦊🦊', '\u0001\uffff', '\u202e"\'\\'])
      expect(assertText('label', text, 9)).toBe(text)
  })
})

describe('payload', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic

  test.each([
    ['a cycle', cyclic],
    ['a BigInt', { n: 1n }],
    ['a function', () => {}],
    ['a symbol', Symbol('x')],
    ['one that throws when it is written', { toJSON: () => expect.fail('no') }],
  ])('refuses %s', (_, payload) => {
    expect(() => payloadText(payload, DEFAULT_LIMITS)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringMatching(/cannot be written as JSON/),
      }),
    )
  })

  test('refuses what is too large, by its bytes of JSON', () => {
    const limits = { ...DEFAULT_LIMITS, payloadBytesMax: 10 }
    expect(payloadText('é'.repeat(4), limits)).toBe('"éééé"')
    expect(() => payloadText('é'.repeat(5), limits)).toThrow(
      expect.objectContaining({
        code: 'payload_too_large',
        message: expect.stringMatching(/12 bytes.*At most 10/),
      }),
    )
    expect(() => payloadText(rawJson('[1,          2]'), limits)).toThrow(/15 bytes/)
  })

  test('has a limit of 256 KiB by default', () => {
    const text = 'x'.repeat(256 * 1024 - 2)
    expect(payloadText(text, DEFAULT_LIMITS)).toHaveLength(256 * 1024)
    expect(() => payloadText(`${text}x`, DEFAULT_LIMITS)).toThrow(/262145 bytes/)
  })

  test.each(['{', '', 'undefined', "{'a':1}", '1,2', 'NaN'])('refuses %j as raw JSON', (text) => {
    expect(() => rawJson(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  test('refuses raw JSON with half of a surrogate pair', () => {
    expect(() => rawJson('"\ud83d"')).toThrow(/surrogate/)
    expect(rawJson('"\\ud83d"').text).toBe('"\\ud83d"')
  })

  test('keeps raw JSON byte for byte, and writes any value so that it reads back (verbatim)', () => {
    const raw = '{"b":1,"a":9007199254740993,"é":"\\u0000"}'
    expect(payloadText(new RawJson(raw), DEFAULT_LIMITS)).toBe(raw)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = payloadText(value, DEFAULT_LIMITS)!
        expect(JSON.stringify(JSON.parse(text))).toBe(text)
      }),
    )
  })

  test('tells no payload from null', () => {
    expect(payloadText(undefined, DEFAULT_LIMITS)).toBeNull()
    expect(payloadText(null, DEFAULT_LIMITS)).toBe('null')
  })
})
