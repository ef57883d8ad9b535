import { describe, expect, test } from 'vitest'
import { openTest, type TestOptions } from '../testing/index.ts'

interface Allowed {
  tenant: number | null
  owner: number | null
}

const UNLIMITED: Allowed = { tenant: null, owner: null }

/** Deliveries that take a while, and how many were running at once, by tenant and by owner. */
async function busy(allowed: (tenant: string, owner: string) => Allowed, options: TestOptions = {}) {
  const bench = await openTest({ deliveryLimits: { deliveriesOf: allowed }, ...options })
  const { wakeful, clock } = bench
  const now = new Map<string, number>()
  const most = new Map<string, number>()
  const fired: string[] = []
  const drifts = new Map<string, number>()
  wakeful.handle('work', async ({ alarm, message, driftMs }) => {
    const names = [alarm.tenant, `${alarm.tenant}/${alarm.owner}`]
    for (const name of names) {
      now.set(name, (now.get(name) ?? 0) + 1)
      most.set(name, Math.max(most.get(name) ?? 0, now.get(name)!))
    }
    drifts.set(alarm.tenant, Math.max(drifts.get(alarm.tenant) ?? 0, driftMs))
    await new Promise<void>((resolve) => void clock.setTimer(Number(message || 1000), resolve))
    for (const name of names) now.set(name, now.get(name)! - 1)
    fired.push(alarm.tenant)
  })
  const due = async (count: number, tenant: string, owner = '', message = '') => {
    for (let i = 0; i < count; i += 1000) {
      const many = Math.min(1000, count - i)
      const items = Array.from({ length: many }, () => ({ when: { delay: '1s' }, target: 'work', message }))
      await wakeful.forTenant(tenant, owner).setMany(items)
    }
  }
  await wakeful.start()
  return { ...bench, due, most, fired, drifts, [Symbol.asyncDispose]: bench.close }
}

describe('deliveries at a time', () => {
  test('stay within a tenant’s limit, while other tenants are not limited', async () => {
    await using world = await busy((tenant) => (tenant === 'hog' ? { tenant: 3, owner: null } : UNLIMITED))
    const { clock, due, most, fired, drifts } = world
    await due(30, 'hog')
    await due(50, 'other')
    await clock.advance('1s')
    await clock.advance('1100ms')
    expect(fired.filter((tenant) => tenant === 'other')).toHaveLength(50)
    expect(drifts.get('other')).toBeLessThan(20)
    await clock.advance('10s')
    expect(fired).toHaveLength(80)
    expect(most.get('hog')).toBe(3)
    expect(most.get('other')).toBe(50)
  })

  test('stay within an owner’s limit, while other owners of the tenant go on', async () => {
    await using world = await busy((_, owner) => ({ tenant: 10, owner: owner === 'ann' ? 2 : null }))
    const { clock, due, most, fired } = world
    await due(20, 'acme', 'ann')
    await due(20, 'acme', 'bob')
    await clock.advance('30s')
    expect(fired).toHaveLength(40)
    expect(most.get('acme/ann')).toBe(2)
    expect(most.get('acme/bob')).toBeGreaterThanOrEqual(8)
    expect(most.get('acme')).toBe(10)
  })

  test('are at least one, and follow a limit that changes', async () => {
    let limit: number | null = 0
    await using world = await busy(() => ({ tenant: limit, owner: null }))
    const { clock, due, most, fired } = world
    await due(20, 'acme')
    await clock.advance('3500ms')
    expect([fired.length, most.get('acme')]).toEqual([2, 1])
    limit = 4
    await clock.advance('1s')
    expect(most.get('acme')).toBe(4)
    limit = null
    await clock.advance('3s')
    expect(fired).toHaveLength(20)
  })

  test('are counted without a loop, too', async () => {
    await using bench = await openTest({
      deliveryLimits: { deliveriesOf: () => ({ tenant: 2, owner: 1 }) },
    })
    const { wakeful, clock } = bench
    let [now, most] = [0, 0]
    wakeful.handle('work', async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise<void>((resolve) => void clock.setTimer(10, resolve))
      now -= 1
    })
    for (const owner of ['a', 'b', 'c'])
      for (let i = 0; i < 3; i++) await wakeful.forTenant('t', owner).set({ delay: '1s' }, { target: 'work' })
    await clock.advance('1s')
    expect(await clock.until(wakeful.tick())).toMatchObject({ fired: 9 })
    expect(most).toBe(2)
  })
})

describe('a tenant at its limit with thousands due', () => {
  const HOG = { tenant: 5, owner: null }

  test.each([
    ['1000', 5_000],
    ['10', 2_000],
  ])('does not delay the others (deliveries of %s ms)', async (message, count) => {
    await using world = await busy((tenant) => (tenant === 'hog' ? HOG : UNLIMITED))
    const { wakeful, clock, due, most, drifts } = world
    await due(count, 'hog', '', message)
    await clock.advance('2s')
    for (let i = 0; i < 20; i++) {
      await wakeful.forTenant(`t${i}`).set({ delay: `${i * 50}ms` }, { target: 'work' })
    }
    await clock.advance('1500ms')
    const late = Array.from({ length: 20 }, (_, i) => drifts.get(`t${i}`))
    expect(late.every((ms) => ms !== undefined && ms <= 60)).toBe(true)
    expect(most.get('hog')).toBe(5)
  })

  test('writes nothing for what has to wait', async () => {
    await using world = await busy((tenant) => (tenant === 'hog' ? HOG : UNLIMITED))
    const { wakeful, clock, due } = world
    await due(2_000, 'hog')
    await clock.advance('10s')
    const hog = wakeful.forTenant('hog')
    const { pending } = await hog.stats()
    const types = new Set<string>()
    for await (const { type } of hog.events()) types.add(type)
    expect([...types]).toEqual(['alarm.fired'])
    expect(pending).toBeGreaterThan(1_900)
  })
})
