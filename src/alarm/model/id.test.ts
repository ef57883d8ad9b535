import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idMaker } from './id.ts'

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
