import { expect, it } from 'vitest'
import { ProblemSampler } from './problem-sampler.ts'

it('logs ten lines of a tenant a second, and says how many were left out', () => {
  const sampler = new ProblemSampler()
  const logged: number[] = []
  for (let ms = 0; ms <= 2_000; ms += 10) {
    const leftOut = sampler.next('acme', 5_000 + ms)
    if (leftOut !== null) logged.push(leftOut)
  }
  expect(logged).toEqual([...Array(10).fill(0), 90, ...Array(9).fill(0), 90])
})

it('logs the tenants beside a noisy one, and a hundred lines a second in all', () => {
  const sampler = new ProblemSampler()
  for (let line = 0; line < 1_000; line++) sampler.next('noisy', 5_000)
  const others = Array.from({ length: 200 }, (_, at) => sampler.next(`quiet ${at}`, 5_000))
  expect(others.filter((leftOut) => leftOut === 0)).toHaveLength(90)
  expect(sampler.next('quiet 199', 6_000)).toBe(1)
  expect(sampler.next('noisy', 6_000)).toBe(990)
})

it('continues after the clock was set back', () => {
  const sampler = new ProblemSampler()
  for (let line = 0; line < 20; line++) sampler.next('acme', 100_000)
  expect(sampler.next('acme', 1_000)).toBe(10)
})
