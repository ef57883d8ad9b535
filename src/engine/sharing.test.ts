import { expect, test } from 'vitest'
import type { Claimed } from '../stores/index.ts'
import { VirtualClock } from '../testing/index.ts'
import type { DeliveryPool } from './delivery-pool.ts'
import { NOBODY } from './shares.ts'
import { Sharing } from './sharing.ts'

const CONCURRENCY = 10

/** Hands that are all free: deliveries that end at once never hold one. */
const idle = {
  concurrency: CONCURRENCY,
  crowding: NOBODY,
  spare: CONCURRENCY,
  room: (batchMax: number) => batchMax,
} as unknown as DeliveryPool

function batch(more: boolean, ...tenants: string[]): Claimed {
  const takings = tenants.map((tenant) => ({ alarm: { tenant } }))
  return { takings, more, lost: [], nextWakeAt: null } as unknown as Claimed
}

test('a tenant that fills batch after batch is crowding, also where its deliveries end at once', () => {
  const sharing = new Sharing(idle, new VirtualClock())
  sharing.took(batch(true, 'hog', 'hog', 'other'))
  expect([...sharing.crowding]).toEqual(['hog'])
  expect(sharing.isDue).toBe(true)
  // With nothing left behind the batch nobody waits for anybody.
  sharing.took(batch(false, 'hog', 'hog', 'other'))
  expect(sharing.isOn).toBe(false)
  // Many tenants that are all late crowd nobody out.
  sharing.took(batch(true, 'a', 'b', 'c', 'd'))
  expect(sharing.isOn).toBe(false)
})

test('batches are short while others come due beside a crowd', () => {
  const clock = new VirtualClock()
  const sharing = new Sharing(idle, clock)
  sharing.took(batch(true, 'hog'))
  expect(sharing.room(1_000)).toBe(1_000)
  sharing.looked({ ...batch(false), nextWakeAt: clock.now() + 100 })
  expect(sharing.room(1_000)).toBe(CONCURRENCY)
  sharing.looked({ ...batch(false), nextWakeAt: clock.now() + 3_600_000 })
  expect(sharing.room(1_000)).toBe(1_000)
})
