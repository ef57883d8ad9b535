import { expect, it } from 'vitest'
import type { Lease } from '../index.ts'
import { Lookout } from './lookout.ts'

const LEASES: readonly Lease[] = [{ shard: 1, pool: 'app', owner: 'me', epoch: 1, until: 0 }]

it('knows below which instant nothing waits, also where something is written during the look', async () => {
  const lookout = new Lookout()
  await lookout.looking(async (look) => {
    lookout.lower(1, 50)
    lookout.lower(2, 10)
    lookout.raise(1, 100, look)
  })
  expect(lookout.low(1)).toBe(50)
  lookout.lower(1, 40)
  expect(lookout.low(1)).toBe(40)
})

it('holds what another process tells against every shard', async () => {
  const lookout = new Lookout()
  await lookout.looking(async (look) => {
    lookout.lower(null, 30)
    for (const shard of [1, 2]) lookout.raise(shard, 100, look)
  })
  expect([lookout.low(1), lookout.low(2)]).toEqual([30, 30])
})

it('forgets what a look found that was under way when everything was forgotten', async () => {
  const lookout = new Lookout()
  await lookout.looking(async (look) => {
    lookout.sweep()
    lookout.raise(1, 100, look)
  })
  expect(lookout.low(1)).toBe(0)
})

it('is not raised by a look that began above what is known: a backlog lies below it', async () => {
  const lookout = new Lookout()
  await lookout.looking(async (look) => lookout.raise(1, 50, look))
  await lookout.looking(async (look) => lookout.raise(1, 100, look, false))
  expect(lookout.low(1)).toBe(50)
  await lookout.looking(async (look) => lookout.raise(1, 20, look, false))
  expect(lookout.low(1)).toBe(20)
})

it('rests only where nothing was heard since the look began', () => {
  const lookout = new Lookout()
  const { news } = lookout
  lookout.rest(LEASES, 100, news)
  expect(lookout.quiet(LEASES, 99)).toMatchObject({ nextWakeAt: 100 })
  expect(lookout.quiet(LEASES, 100)).toBeNull()
  lookout.lower(1, 200)
  lookout.rest(LEASES, 300, news)
  expect(lookout.quiet(LEASES, 99)).toMatchObject({ nextWakeAt: 100 })
  expect(lookout.heardOf(60)).toBe(true)
  expect(lookout.quiet(LEASES, 50)).toBeNull()
})
