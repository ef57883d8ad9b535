import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { testDatabase } from '../postgres/database.ts'

const database = testDatabase()
const LIMITS = {
  deliveriesOf: (tenant: string, owner: string) => ({
    tenant: tenant === 'hog' ? 5 : null,
    owner: owner === 'greedy' ? 3 : null,
  }),
}
const DUE = Array.from({ length: 1000 }, () => ({ when: new Date(0), target: 'hang' }))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test.each(['sqlite', 'postgres'] as const)(
  'a tenant and an owner at their limits with thousands due do not delay others, and cost nothing (%s)',
  async (store) => {
    const url = store === 'sqlite' ? 'sqlite::memory:' : database.url
    const wakeful = await open(url, { drain: '0s', deliveryLimits: LIMITS })
    try {
      const hanging = new Map<string, number>()
      wakeful.handle('hang', ({ signal, alarm }) => {
        hanging.set(alarm.tenant, (hanging.get(alarm.tenant) ?? 0) + 1)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
      })
      const late: number[] = []
      wakeful.handle('tick', (fire) => void late.push(fire.driftMs))
      for (let batch = 0; batch < 3; batch++) {
        await wakeful.forTenant('hog').setMany(DUE)
        await wakeful.forTenant('mixed', 'greedy').setMany(DUE)
      }
      // Many tenants with nothing due: a scan must not visit all of them.
      const quiet = Array.from({ length: 1000 }, (_, i) => wakeful.forTenant(`quiet${i}`))
      await Promise.all(quiet.map((each) => each.set({ delay: '1d' }, { target: 'tick' })))
      await wakeful.start()
      while ((hanging.get('hog') ?? 0) < 5 || (hanging.get('mixed') ?? 0) < 3) await pause(5)
      const before = process.cpuUsage()
      await pause(1000)
      const { user, system } = process.cpuUsage(before)
      for (let round = 0; round < 20; round++) {
        const others = ['a', 'b', 'c', 'd'].map((tenant) => wakeful.forTenant(tenant))
        others.push(wakeful.forTenant('mixed', 'modest'), quiet[37 * round]!)
        await Promise.all(others.map((each) => each.set({ delay: '50ms' }, { target: 'tick' })))
        await pause(20)
      }
      const start = performance.now()
      while (late.length < 120 && performance.now() - start < 20_000) await pause(20)
      late.sort((a, b) => a - b)
      const busyMs = Math.round((user + system) / 1000)
      console.log(
        `${store}: busy ${busyMs} ms of 1000; after the instant: p50 ${late[60]}, p99 ${late[118]} ms`,
      )
      expect(late).toHaveLength(120)
      expect(Object.fromEntries(hanging)).toEqual({ hog: 5, mixed: 3 })
      expect(busyMs).toBeLessThan(500)
    } finally {
      await wakeful.close()
    }
  },
  60_000,
)
