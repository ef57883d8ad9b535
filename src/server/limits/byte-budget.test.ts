import { expect, it } from 'vitest'
import { Unread } from './byte-budget.ts'

const KIB = 1_024

it('cuts off those who have not read for the longest time, until what waits is little enough', () => {
  const unread = new Unread(1_000 * KIB)
  const cut: string[] = []
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => ({ cut: () => void cut.push(name) })) as [
    { cut(): void },
    { cut(): void },
    { cut(): void },
    { cut(): void },
  ]
  unread.count(a, 300 * KIB)
  unread.count(b, 300 * KIB)
  unread.count(c, 300 * KIB)
  // It has read, and begins to wait anew.
  unread.count(a, 10 * KIB)
  unread.count(a, 300 * KIB)
  expect(cut).toEqual([])
  unread.count(d, 500 * KIB)
  expect(cut).toEqual(['b', 'c'])
  // Who was cut off is forgotten.
  unread.count(b, 0)
  unread.count(a, 500 * KIB)
  expect(cut).toEqual(['b', 'c'])
  unread.count(c, 100 * KIB)
  expect(cut).toEqual(['b', 'c', 'a'])
})

it('does not count what is on its way', () => {
  const unread = new Unread(1_000 * KIB)
  for (let n = 0; n < 1_000; n++) unread.count({ cut: () => expect.unreachable() }, 64 * KIB)
})
