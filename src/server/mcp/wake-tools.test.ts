import { expect, it } from 'vitest'
import { itemTexts } from './wake-tools.ts'

it('cuts items out of a list unchanged', () => {
  const items = ['{"a":1.10,"b":[{"c":"}]"}]}', '{"d":"\\"{\\\\"}', '{"e" : 9007199254740993}']
  expect(itemTexts(`{"items":[${items.join(',')}]}`)).toEqual(items)
  expect(itemTexts('{"items":[]}')).toEqual([])
})
