import { expect, it } from 'vitest'
import { oneLineJson, wireText, withFields } from './wire-text.ts'

it('writes keys in snake_case and instants as ISO text, and leaves what users wrote alone', () => {
  const view = { alarmId: 'x', at: new Date(0), none: undefined, nothing: null, data: { keepMe: 1 } }
  expect(wireText(view)).toBe(
    '{"alarm_id":"x","at":"1970-01-01T00:00:00.000Z","nothing":null,"data":{"keepMe":1}}',
  )
})

it('adds fields without touching the text before them', () => {
  expect(withFields('{"a":12345678901234567890}', { deduped: true })).toBe(
    '{"a":12345678901234567890,"deduped":true}',
  )
  expect(withFields('{}', { a: 1 })).toBe('{"a":1}')
  expect(withFields('{"a":1}', {})).toBe('{"a":1}')
})

it('keeps every digit of a number', () => {
  const text = '{"big":12345678901234567890,"small":1.10,"list":[1e400]}'
  expect(oneLineJson(text.replaceAll(',', ',\n  '))).toBe(text)
  expect(oneLineJson('{damaged')).toBe('"{damaged"')
})
