import { expect, it } from 'vitest'
import { VirtualClock } from '../testing/index.ts'
import { patience } from './patience.ts'

it('counts from the first question, not from when a slow store was asked', async () => {
  const clock = new VirtualClock()
  const isLong = patience(clock, 50)
  await clock.advance(1_000)
  expect(isLong()).toBe(false)
  await clock.advance(50)
  expect(isLong()).toBe(false)
  await clock.advance(1)
  expect(isLong()).toBe(true)
})
