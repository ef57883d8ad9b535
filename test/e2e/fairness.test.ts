import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { testDatabase } from '../postgres/database.ts'

const database = testDatabase()

test.each(['sqlite', 'postgres'] as const)(
  'a tenant with thousands due and handlers that hang leaves slots for the others (%s)',
  async (store) => {
    const wakeful = await open(store === 'sqlite' ? 'sqlite::memory:' : database.url, { drain: '0s' })
    try {
      const hog = wakeful.forTenant('hog')
      let hanging = 0
      wakeful.handle('hang', ({ signal }) => {
        hanging += 1
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
      })
      const late: number[] = []
      wakeful.handle('tick', (fire) => void late.push(fire.driftMs))
      const due = Array.from({ length: 1000 }, () => ({ when: new Date(0), target: 'hang' }))
      for (let batch = 0; batch < 3; batch++) await hog.setMany(due)
      await wakeful.start()
      while (hanging < 100) await new Promise((resolve) => setTimeout(resolve, 5))
      for (let round = 0; round < 20; round++) {
        const sets = Array.from({ length: 10 }, (_, tenant) =>
          wakeful.forTenant(`t${tenant}`).set({ delay: '50ms' }, { target: 'tick' }),
        )
        await Promise.all(sets)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const start = performance.now()
      while (late.length < 200 && performance.now() - start < 20_000)
        await new Promise((resolve) => setTimeout(resolve, 20))
      late.sort((a, b) => a - b)
      console.log(`${store}: ms after the instant: p50 ${late[100]}, p99 ${late[198]}`)
      // All of them fired while a hundred deliveries hung; none of the other tenant's used a reserved slot.
      expect(late).toHaveLength(200)
      expect(hanging).toBe(100)
    } finally {
      await wakeful.close()
    }
  },
  60_000,
)

test.each(['sqlite', 'postgres'] as const)(
  'a tenant with thousands due and handlers that fail at once is not served before all others (%s)',
  async (store) => {
    const wakeful = await open(store === 'sqlite' ? 'sqlite::memory:' : database.url, { drain: '0s' })
    try {
      let failed = 0
      wakeful.handle('fail', () => {
        failed += 1
        throw new Error('no')
      })
      const failedBefore: number[] = []
      wakeful.handle('tock', () => void failedBefore.push(failed))
      const due = Array.from({ length: 1000 }, () => ({ when: new Date(0), target: 'fail', maxFailures: 1 }))
      for (let batch = 0; batch < 5; batch++) await wakeful.forTenant('rush').setMany(due)
      // Due after all of the other tenant's.
      const late = { when: new Date(1000), target: 'tock' }
      for (let tenant = 0; tenant < 10; tenant++)
        await wakeful.forTenant(`u${tenant}`).setMany([late, late, late])
      await wakeful.start()
      const start = performance.now()
      while (failedBefore.length < 30 && performance.now() - start < 30_000)
        await new Promise((resolve) => setTimeout(resolve, 20))
      console.log(`${store}: the last of 30 came after ${Math.max(...failedBefore)} of 5000 that failed`)
      expect(failedBefore).toHaveLength(30)
      expect(Math.max(...failedBefore)).toBeLessThan(2_500)
    } finally {
      await wakeful.close()
    }
  },
  60_000,
)
