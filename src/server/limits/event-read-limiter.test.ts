import { expect, it } from 'vitest'
import type { Caller } from '../auth/index.ts'
import { EventReadLimiter } from './event-read-limiter.ts'

const caller = (owner: string) => ({ tenant: 't', owner }) as Caller

/** How many turns the event loop had meanwhile. */
async function roundsOf(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0
  let isOver = false
  const count = () => {
    if (isOver) return
    rounds += 1
    setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return rounds
}

it('gives the event loop turns, however many readers read at the same time', async () => {
  const limiter = new EventReadLimiter()
  const readers = Array.from({ length: 40 }, (_, n) => limiter.reader(caller(`${n % 7}`)))
  const rounds = await roundsOf(() =>
    Promise.all(
      readers.map(async (step) => {
        for (let n = 0; n < 50; n++) await step(64 * 1_024)
      }),
    ),
  )
  expect(rounds).toBeGreaterThanOrEqual((40 * 50) / 4 - 1)
  const begun = Array.from({ length: 100 }, () => () => limiter.begin(caller('a'), async () => 1))
  expect(await roundsOf(() => Promise.all(begun.map((begin) => begin())))).toBeGreaterThanOrEqual(24)
})

it('does not wait where little is read', async () => {
  const step = new EventReadLimiter().reader(caller('a'))
  for (let n = 0; n < 200; n++) expect(step(150)).toBeUndefined()
  for (let n = 0; n < 500; n++) await step(150)
})
