import { expect, test } from 'vitest'
import { openTest, type TestOptions } from '../../testing/index.ts'
import { PauseControl } from '../tenants/index.ts'
import { Metrics } from './metrics.ts'

const BASE = { maxFailures: 3, backoff: { baseMs: 1_000, capMs: 1_000 } }

async function bench(options: TestOptions) {
  const metrics = new Metrics({ version: '1', node: '1' })
  const { wakeful, clock, close } = await openTest({ ...options, observer: metrics.observer })
  metrics.attach({ readings: () => wakeful.operator.readings(), clock })
  /** One sample, by its name and labels; 0 if there is none. */
  const read = async (sample: string) => {
    const line = (await metrics.text()).body.split('\n').find((each) => each.startsWith(`${sample} `))
    return Number(line?.slice(sample.length + 1) ?? 0)
  }
  const fires = async (kind: 'lateness' | 'deferred') => ({
    count: await read(`wakeful_fire_${kind}_seconds_count{target="handler"}`),
    sum: await read(`wakeful_fire_${kind}_seconds_sum{target="handler"}`),
  })
  return { wakeful, clock, read, fires, [Symbol.asyncDispose]: close }
}

test('what a limit has deferred is neither late nor lag', async () => {
  await using at = await bench({ deliveryLimits: { deliveriesOf: () => ({ tenant: null, owner: 1 }) } })
  const release: (() => void)[] = []
  at.wakeful.handle('work', () => new Promise<void>((resolve) => void release.push(resolve)))
  await at.wakeful.start()
  for (const delay of ['1m', '1m', '2m']) await at.wakeful.set({ delay }, { ...BASE, target: 'work' })
  await at.clock.advance('4m')
  expect(release.length).toBe(1)
  expect(await at.read('wakeful_lag_seconds{pool="app"}')).toBe(0)
  for (const index of [0, 1, 2]) {
    release[index]!()
    await at.clock.advance('1s')
  }
  const [late, deferred] = [await at.fires('lateness'), await at.fires('deferred')]
  expect([late.count, deferred.count]).toEqual([1, 2])
  expect(late.sum).toBeLessThan(1)
  expect(deferred.sum).toBeGreaterThan(300)
})

test('what comes due when its owner has a free delivery is late if the engine is', async () => {
  await using at = await bench({
    concurrency: 1,
    deliveryLimits: { deliveriesOf: () => ({ tenant: null, owner: 1 }) },
  })
  const release: (() => void)[] = []
  at.wakeful.handle('work', () => new Promise<void>((resolve) => void release.push(resolve)))
  await at.wakeful.start()
  const ann = at.wakeful.forTenant('default', 'ann')
  await at.wakeful.set({ delay: '1m' }, { ...BASE, target: 'work' })
  await ann.set({ delay: '2m' }, { ...BASE, target: 'work' })
  await at.clock.advance('4m')
  expect(release.length).toBe(1)
  release[0]!()
  await at.clock.advance('1s')
  expect(release.length).toBe(2)
  release[1]!()
  await at.clock.advance('1s')
  const [late, deferred] = [await at.fires('lateness'), await at.fires('deferred')]
  expect([late.count, deferred.count]).toEqual([2, 0])
  expect(late.sum).toBeGreaterThan(100)
})

test.each(['operator', 'owner'] as const)('what a pause of an %s has deferred is not late', async (by) => {
  const pauses = new PauseControl()
  await using at = await bench({ pauses })
  const { documents, clock } = at.wakeful.operator
  const detach = await pauses.attach(documents, clock, () => {})
  at.wakeful.handle('work', () => {})
  await at.wakeful.start()
  const { id } = await at.wakeful.set({ delay: '1m' }, { ...BASE, target: 'work' })
  if (by === 'operator') await pauses.pause({ tenant: 'default' })
  else await at.wakeful.pause(id)
  await at.clock.advance('1h')
  if (by === 'operator') await pauses.resume({ tenant: 'default' }, null)
  else await at.wakeful.resume(id)
  await at.clock.advance('10s')
  expect((await at.wakeful.get(id))!.status).toBe('fired')
  const [late, deferred] = [await at.fires('lateness'), await at.fires('deferred')]
  expect([late.count, deferred.count]).toEqual([0, 1])
  expect(deferred.sum).toBeGreaterThan(3_500)
  detach()
})
