import { expect, it } from 'vitest'
import { bySerial, serialOf, stepped } from './timer.ts'

it('numbers of rows are exact, also where a plain number would be another one', () => {
  const texts = ['0', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807']
  expect(texts.map((text) => String(serialOf(text)))).toEqual(texts)
  expect(texts.map((text) => typeof serialOf(text))).toEqual([
    'number',
    'number',
    'bigint',
    'bigint',
    'bigint',
  ])
  expect(texts.map(serialOf).reverse().sort(bySerial).map(String)).toEqual(texts)
})

it('the one before and the one after are found across that border', () => {
  expect(stepped(2 ** 53 - 1, 1)).toBe(2n ** 53n)
  expect(stepped(2n ** 53n, -1)).toBe(2 ** 53 - 1)
  expect(stepped(1, -1)).toBe(0)
})
