import { expect, it } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

function budgetOf(bytesMax: number) {
  const dropped: string[] = []
  const budget = new ByteBudget<string>(bytesMax, (holder) => void dropped.push(holder))
  const count = (holder: string, bytes: number) => {
    budget.count(holder, bytes)
    budget.enforce()
  }
  return { budget, dropped, count }
}

it('drops those that have held bytes longest until the rest fits', () => {
  const { dropped, count } = budgetOf(1_000)
  count('a', 300)
  count('b', 300)
  count('c', 300)
  // It has sent everything, and starts again.
  count('a', 0)
  count('a', 300)
  expect(dropped).toEqual([])
  count('d', 500)
  expect(dropped).toEqual(['b', 'c'])
  // Those dropped no longer count.
  count('b', 0)
  count('a', 500)
  expect(dropped).toEqual(['b', 'c'])
  count('c', 100)
  expect(dropped).toEqual(['b', 'c', 'a'])
})

it('forgets those that hold nothing when it counts again', () => {
  const { budget, dropped, count } = budgetOf(1_000)
  count('a', 600)
  count('b', 300)
  budget.recount((holder) => (holder === 'a' ? 0 : 300))
  expect(budget.has('a')).toBe(false)
  count('c', 700)
  expect(dropped).toEqual([])
})
