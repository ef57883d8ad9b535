import assert from 'node:assert/strict'
import { fireNow, replace } from '../../alarm/index.ts'
import { type Lease, ownerKey, type WaitingFilter } from '../store.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

const TENANT: WaitingFilter = { pausedTenant: 'acme' }

/** What an operator holds: it waits, uncounted, and comes back as fast as it is asked for. */
export const pauseCases = casesOf('holds', {
  async 'what is held waits uncounted, and others fire'(harness) {
    const leases = await harness.heartbeat()
    const [, zeta] = OTHERS
    const id = await harness.alarm({ delay: '1s' })
    const other = await harness.alarm({ delay: '1s' }, {}, zeta!)
    harness.isPaused = ({ tenant }) => tenant === 'acme'
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    assert.equal(claimed.alarm.id, other)
    await harness.settle(claimed, 'delivered')
    const [timer] = (await harness.get(id)).timers
    assert.deepEqual([timer!.waiting, timer!.attempt], ['operator_pause', 0])
    assert.deepEqual((await harness.claim(leases)).timers, [])
    assert.deepEqual(await harness.types(id), [])
  },

  async 'comes back the longest held first, so many at a time, as if it had never been looked at'(harness) {
    const { leases, ids } = await heldOnes(harness, 5)
    harness.isPaused = () => false
    assert.deepEqual([await release(harness, leases, TENANT, 2), await release(harness, [], TENANT)], [2, 0])
    assert.deepEqual(await takenNow(harness, leases), ids.slice(0, 2))
    assert.equal((await harness.get(ids[2]!)).timers[0]!.waiting, 'operator_pause')
    assert.equal(await release(harness, leases, TENANT), 3)
    assert.equal(await release(harness, leases, TENANT), 0)
    for (const id of ids.slice(2)) {
      const [timer] = (await harness.get(id)).timers
      assert.deepEqual([timer!.waiting, timer!.wakeAt], [null, timer!.scheduledFor])
    }
    assert.deepEqual(await takenNow(harness, leases), ids.slice(2))
  },

  async 'of a tenant or of a target, and of no other'(harness) {
    const leases = await harness.heartbeat()
    const [bob, zeta] = OTHERS
    harness.isPaused = () => true
    const own = await harness.alarm({ delay: '1s' }, { target: 'a' })
    const bobs = await harness.alarm({ delay: '2s' }, { target: 'b' }, bob!)
    const zetas = await harness.alarm({ delay: '3s' }, { target: 'a' }, zeta!)
    harness.clock.step(3000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    harness.isPaused = () => false
    assert.equal(await release(harness, leases, { pausedTenant: 'nobody' }), 0)
    assert.equal(await release(harness, leases, { pausedTarget: 'c' }), 0)
    assert.equal(await release(harness, leases, { handler: 'a' }), 0, 'it does not wait for its handler')
    assert.deepEqual((await harness.store.pausedTargets(leases, 10)).sort(), ['a', 'b'])
    assert.deepEqual((await harness.store.pausedTargets(leases, 1)).length, 1)
    assert.deepEqual(await harness.store.pausedTargets([], 10), [])
    assert.equal(await release(harness, leases, { pausedTarget: 'a' }), 2)
    assert.deepEqual(await harness.store.pausedTargets(leases, 10), ['b'])
    assert.deepEqual(await takenNow(harness, leases), [own, zetas])
    assert.equal(await release(harness, leases, TENANT), 1)
    assert.deepEqual(await takenNow(harness, leases), [bobs])
  },

  async 'what waits for its handler is not taken for held'(harness) {
    const leases = await harness.heartbeat()
    harness.canRun = () => false
    await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    await harness.claim(leases)
    assert.equal(await release(harness, leases, TENANT), 0)
    assert.equal(await release(harness, leases, { pausedTarget: 'remind' }), 0)
    assert.equal(await release(harness, leases, { handler: 'remind' }), 1)
  },

  async 'is looked at again by itself some day, and held again or not'(harness) {
    const { leases, ids } = await heldOnes(harness, 1)
    const [before] = (await harness.get(ids[0]!)).timers
    harness.clock.step(before!.wakeAt! - harness.now)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    assert.ok((await harness.get(ids[0]!)).timers[0]!.wakeAt! > harness.now)
    harness.isPaused = () => false
    harness.clock.step(2 * 3_600_000)
    assert.deepEqual(await takenNow(harness, leases), ids)
  },

  async 'a fire by hand is held too, and a report is not'(harness) {
    const leases = await harness.heartbeat()
    const awaiting = await harness.alarm({ delay: '1s' }, { ack: 'report', completionTimeout: '1m' })
    harness.clock.step(1000)
    await harness.settle(await harness.claimOne(leases), 'delivered')
    const forced = await harness.alarm({ every: '1h' })
    await harness.edit(forced, fireNow)
    harness.isPaused = () => true
    harness.clock.step(60_000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    assert.equal(await harness.state(awaiting), 'timed_out')
    const held = (await harness.get(forced)).timers.filter(({ waiting }) => waiting === 'operator_pause')
    assert.deepEqual(
      held.map(({ kind }) => kind),
      ['forced'],
    )
  },

  async 'can be cancelled and rescheduled as ever'(harness) {
    const { leases, ids } = await heldOnes(harness, 2)
    assert.equal(await harness.cancel(ids[0]!), 'cancelled')
    await harness.edit(ids[1]!, (found, context) => {
      const first = context.now + 1000
      const rule = { ...found.alarm.rule, at: first } as typeof found.alarm.rule
      return replace(found, { alarm: { ...found.alarm, rule }, first }, 'reschedule', context)
    })
    const [timer] = (await harness.get(ids[1]!)).timers
    assert.deepEqual([timer!.waiting, timer!.wakeAt], [null, harness.now + 1000])
    assert.equal(await release(harness, leases, TENANT), 0)
    harness.isPaused = () => false
    harness.clock.step(1000)
    assert.deepEqual(await takenNow(harness, leases), [ids[1]])
  },

  async 'what was missed meanwhile is judged as after a standstill'(harness) {
    const leases = await harness.heartbeat()
    harness.isPaused = () => true
    const once = await harness.alarm({ every: '1m' })
    const skip = await harness.alarm({ delay: '1m', misfire: 'skip' })
    harness.clock.step(60_000)
    await harness.claim(leases)
    harness.clock.step(10 * 60_000)
    await harness.claim(leases)
    harness.isPaused = () => false
    assert.equal(await release(harness, leases, TENANT), 2)
    const [claimed] = (await harness.claim(leases)).timers
    assert.equal(claimed!.timer.scheduledFor, harness.now, 'the newest of what was missed')
    await harness.settle(claimed!, 'delivered')
    assert.deepEqual(await harness.types(once), ['alarm.skipped', 'alarm.fired'])
    assert.deepEqual(await harness.types(skip), ['alarm.skipped'])
  },
})

/** What whoever takes has no room for stays as it is. */
export const passCases = casesOf('limits', {
  async 'what is passed stays due, unwritten, and says that there is more'(harness) {
    const leases = await harness.heartbeat()
    const ids = await dueOnes(harness, 5)
    const before = (await harness.get(ids[0]!)).timers
    const none = await harness.claim(leases, { passes: () => true })
    assert.deepEqual([none.timers.length, none.more, none.nextWakeAt! <= harness.now], [0, true, true])
    assert.deepEqual((await harness.get(ids[0]!)).timers, before)
    const some = await harness.claim(leases, { passes: ({ id }) => id !== ids[3] })
    assert.deepEqual(
      some.timers.map(({ alarm }) => alarm.id),
      [ids[3]],
    )
    assert.equal(some.more, true)
    await harness.settle(some.timers, 'delivered')
    assert.deepEqual(
      await takenNow(harness, leases),
      ids.filter((id) => id !== ids[3]),
    )
  },

  async 'is found again after others were looked for'(harness) {
    const leases = await harness.heartbeat()
    const [, zeta] = OTHERS
    const ids = await dueOnes(harness, 3)
    const other = await harness.alarm({ delay: '1s' }, {}, zeta!)
    await harness.claim(leases, { passes: () => true })
    const avoid = new Set(['acme'])
    const early = await harness.claim(leases, { avoid })
    assert.deepEqual([early.timers.length, early.nextWakeAt], [0, harness.now + 1000])
    harness.clock.step(1000)
    const { timers: claimed } = await harness.claim(leases, { avoid })
    assert.deepEqual(
      claimed.map(({ alarm }) => alarm.id),
      [other],
    )
    await harness.settle(claimed, 'delivered')
    assert.deepEqual(await takenNow(harness, leases), ids)
  },

  async 'finds who is due among many owners, also those who are due for long'(harness) {
    const leases = await harness.heartbeat()
    await dueOnes(harness, 3)
    const scopes = Array.from({ length: 150 }, (_, i) => ({ tenant: `t${1000 + i}`, owner: 'o' }))
    const sets = scopes.map((scope) => harness.request({ delay: '1d' }, {}, scope))
    await harness.store.set(sets, harness.context())
    const ids = [await harness.alarm({ delay: '1s' }, {}, scopes[140]!)]
    harness.clock.step(60_000)
    // Newer than that, and not to be had: an owner by owner look comes by all the same.
    const newer = Array.from({ length: 600 }, () => harness.request({ delay: '1s' }))
    await harness.store.set(newer, harness.context())
    ids.push(await harness.alarm({ delay: '1s' }, {}, scopes[70]!))
    harness.clock.step(1000)
    const found: string[] = []
    for (let looks = 0; looks < 20 && found.length < 2; looks++) {
      const { timers: claimed } = await harness.claim(leases, { avoid: new Set(['acme']) })
      found.push(...claimed.map(({ alarm }) => alarm.id))
      if (claimed.length > 0) await harness.settle(claimed, 'delivered')
    }
    assert.deepEqual(found.sort(), ids.sort())
  },

  async 'passes over an owner that has enough, and no other of its tenant'(harness) {
    const leases = await harness.heartbeat()
    const [bob, zeta] = OTHERS
    const ids = await dueOnes(harness, 3)
    const bobs = await harness.alarm({ delay: '1s' }, {}, bob!)
    const zetas = await harness.alarm({ delay: '2s' }, {}, zeta!)
    harness.clock.step(1000)
    const request = { avoid: new Set<string>(), avoidOwners: new Set([ownerKey(ANN)]) }
    const { timers: claimed, nextWakeAt } = await harness.claim(leases, request)
    assert.deepEqual(
      claimed.map(({ alarm }) => alarm.id),
      [bobs],
    )
    assert.equal(nextWakeAt, harness.now + 1000)
    await harness.settle(claimed, 'delivered')
    harness.clock.step(1000)
    assert.deepEqual(await takenNow(harness, leases), [...ids, zetas])
  },
})

/** Alarms of Ann's that came due a second apart. */
async function dueOnes(harness: Harness, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 1; i <= count; i++) ids.push(await harness.alarm({ delay: `${i}s` }))
  harness.clock.step(count * 1000)
  return ids
}

/** Alarms of Ann's that came due a second apart, and are held. */
async function heldOnes(harness: Harness, count: number): Promise<{ leases: Lease[]; ids: string[] }> {
  const leases = await harness.heartbeat()
  const ids = await dueOnes(harness, count)
  harness.isPaused = () => true
  assert.deepEqual((await harness.claim(leases)).timers, [])
  return { leases, ids }
}

function release(
  harness: Harness,
  leases: readonly Lease[],
  which: WaitingFilter,
  limit = 10,
): Promise<number> {
  return harness.store.requeueWaiting(leases, which, harness.now, limit)
}

/** What is taken now, the most overdue first; it is delivered. */
async function takenNow(harness: Harness, leases: readonly Lease[]): Promise<string[]> {
  const { timers: claimed } = await harness.claim(leases)
  if (claimed.length > 0) await harness.settle(claimed, 'delivered')
  const due = [...claimed].sort((a, b) => a.timer.scheduledFor - b.timer.scheduledFor)
  return due.map(({ alarm }) => alarm.id)
}
