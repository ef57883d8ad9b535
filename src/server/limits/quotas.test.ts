import { expect, it } from 'vitest'
import type { Quotas } from '../../contracts/index.ts'
import type { Alarms } from '../../library/index.ts'
import { openTest, VirtualClock } from '../../testing/index.ts'
import { QuotaGuard, TenantRegistry } from './quotas.ts'

const SET = { does: 'set', options: {} } as const
const TARGET = { target: { event: true } } as const

/** A clock on which every reading is two minutes after the one before, once it runs. */
class FastClock extends VirtualClock {
  isRunning = false
  #ahead = 0

  override now(): number {
    if (this.isRunning) this.#ahead += 120_000
    return super.now() + this.#ahead
  }
}

async function guarded(quotas: Quotas, start = '2030-01-01T11:56:00Z') {
  const clock = new FastClock(start)
  const { wakeful, close } = await openTest({ clock })
  const { operator } = wakeful
  const tenants = new TenantRegistry(operator.documents, clock, { tenant: quotas, owner: {} })
  const guard = new QuotaGuard(tenants, clock, operator)
  const alarms = wakeful.forTenant('acme', 'ann')
  const caller = { tenant: 'acme', owner: 'ann', rights: 'write', via: 'http', alarms } as const
  const as = { ...caller, keyId: null, keyHash: null, key: null }
  const set = (work: (by: Alarms) => Promise<unknown>, count = 1) =>
    guard.within(
      as,
      Array.from({ length: count }, () => SET),
      work,
    )
  const edit = (id: string, work: (by: Alarms) => Promise<unknown>) =>
    guard.within(as, [{ does: 'edit', ref: id, moves: true, options: {} }], work)
  return { clock, alarms, set, edit, [Symbol.asyncDispose]: close }
}

it.each(['set', 'batch', 'edit'] as const)(
  'judges the rule that a %s stores, however fast time goes by',
  async (how) => {
    // Noon is passed at each reading of the clock once, so that a second resolution would find another day.
    for (let minute = 30; minute < 60; minute += 2) {
      await using bench = await guarded({ wakes_per_hour: 1 }, `2030-01-01T11:${minute}:00Z`)
      const { clock, alarms, set, edit } = bench
      const { id } = await alarms.set({ delay: '7d' }, TARGET)
      clock.isRunning = true
      if (how === 'set') await set((by) => by.set('12:00', TARGET))
      else if (how === 'batch') await set((by) => by.setMany([{ when: '12:00', ...TARGET }]))
      else await edit(id, (by) => by.reschedule(id, '12:00'))
      clock.isRunning = false
      const { items } = await alarms.list()
      const storedSoon = items.some((each) => Number(each.nextFireAt) - Number(each.updatedAt) <= 300_000)
      const hasWakeLeft = await set((by) => by.set({ delay: '1s' }, TARGET)).then(
        () => true,
        () => false,
      )
      expect({ minute, hasWakeLeft }).toEqual({ minute, hasWakeLeft: !storedSoon })
    }
  },
)

it('reads each when of a batch once', async () => {
  await using bench = await guarded({ wakes_per_hour: 100, min_interval: '1s' })
  let reads = 0
  const when = {
    get every() {
      reads += 1
      return '1h'
    },
  }
  await bench.alarms.set(when, TARGET)
  const without = reads
  reads = 0
  await bench.set((by) => by.set(when, TARGET))
  expect(reads).toBe(without)
  await bench.set(
    (by) =>
      by.setMany([
        { when, ...TARGET },
        { when, ...TARGET },
      ]),
    2,
  )
  expect(reads).toBe(3 * without)
})

it('judges options that a reschedule keeps', async () => {
  await using bench = await guarded({ min_interval: '1d' })
  const { alarms, edit } = bench
  const { id } = await alarms.set({ cron: '0 9 * * *', exclude: 'weekends' }, TARGET)
  await edit(id, (by) => by.reschedule(id, { cron: '0 10 * * *' }))
  await expect(edit(id, (by) => by.reschedule(id, { cron: '0 10,11 * * *' }))).rejects.toMatchObject({
    reason: 'quota.min_interval',
  })
  expect((await alarms.get(id))?.rule).toMatchObject({ cron: '0 10 * * *' })
})

it('gives back what a refused write has used', async () => {
  await using bench = await guarded({ wakes_per_hour: 1, sets_per_second: 2, min_interval: '1m' })
  const { set } = bench
  for (let n = 0; n < 9; n++)
    await expect(set((by) => by.set({ every: '1s' }, TARGET))).rejects.toMatchObject({
      reason: 'quota.min_interval',
    })
  await set((by) => by.set({ delay: '1s' }, TARGET))
  for (let n = 0; n < 9; n++)
    await expect(set((by) => by.set({ delay: '1s' }, TARGET))).rejects.toMatchObject({
      reason: 'quota.wakes_per_hour',
    })
  await set((by) => by.set({ delay: '1d' }, TARGET))
})
