import assert from 'node:assert/strict'
import { fireNow, replace } from '../../alarm/index.ts'
import { ownerKey } from '../rows.ts'
import type { Lease, WaitingFilter } from '../store.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

const TENANT: WaitingFilter = { pausedTenant: 'acme' }

/** Timers that an operator's pause stops wait without using attempts, and are requeued at the rate of the catch-up. */
export const pauseCases = casesOf('pauses', {
  async 'a paused alarm waits without using attempts, and others fire'(harness) {
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

  async 'paused alarms are requeued up to a limit, the longest paused first, and keep no trace of the pause'(
    harness,
  ) {
    const { leases, ids } = await pausedAlarms(harness, 5)
    harness.isPaused = () => false
    assert.deepEqual([await requeue(harness, leases, TENANT, 2), await requeue(harness, [], TENANT)], [2, 0])
    assert.deepEqual(await claimedNow(harness, leases), ids.slice(0, 2))
    assert.equal((await harness.get(ids[2]!)).timers[0]!.waiting, 'operator_pause')
    assert.equal(await requeue(harness, leases, TENANT), 3)
    assert.equal(await requeue(harness, leases, TENANT), 0)
    for (const id of ids.slice(2)) {
      const [timer] = (await harness.get(id)).timers
      assert.deepEqual([timer!.waiting, timer!.wakeAt], [null, timer!.scheduledFor])
    }
    assert.deepEqual(await claimedNow(harness, leases), ids.slice(2))
  },

  async 'are requeued by tenant or by target, and no others'(harness) {
    const leases = await harness.heartbeat()
    const [bob, zeta] = OTHERS
    harness.isPaused = () => true
    const own = await harness.alarm({ delay: '1s' }, { target: 'a' })
    const bobs = await harness.alarm({ delay: '2s' }, { target: 'b' }, bob!)
    const zetas = await harness.alarm({ delay: '3s' }, { target: 'a' }, zeta!)
    harness.clock.step(3000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    harness.isPaused = () => false
    assert.equal(await requeue(harness, leases, { pausedTenant: 'nobody' }), 0)
    assert.equal(await requeue(harness, leases, { pausedTarget: 'c' }), 0)
    assert.equal(await requeue(harness, leases, { handler: 'a' }), 0, 'it does not wait for its handler')
    assert.deepEqual((await harness.store.pausedTargets(leases, 10)).sort(), ['a', 'b'])
    assert.deepEqual((await harness.store.pausedTargets(leases, 1)).length, 1)
    assert.deepEqual(await harness.store.pausedTargets([], 10), [])
    assert.equal(await requeue(harness, leases, { pausedTarget: 'a' }), 2)
    assert.deepEqual(await harness.store.pausedTargets(leases, 10), ['b'])
    assert.deepEqual(await claimedNow(harness, leases), [own, zetas])
    assert.equal(await requeue(harness, leases, TENANT), 1)
    assert.deepEqual(await claimedNow(harness, leases), [bobs])
  },

  async 'a timer that waits for its handler is not requeued as a paused one'(harness) {
    const leases = await harness.heartbeat()
    harness.canRun = () => false
    await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    await harness.claim(leases)
    assert.equal(await requeue(harness, leases, TENANT), 0)
    assert.equal(await requeue(harness, leases, { pausedTarget: 'remind' }), 0)
    assert.equal(await requeue(harness, leases, { handler: 'remind' }), 1)
  },

  async 'a paused alarm is checked again after a while without a resume'(harness) {
    const { leases, ids } = await pausedAlarms(harness, 1)
    const [before] = (await harness.get(ids[0]!)).timers
    harness.clock.step(before!.wakeAt! - harness.now)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    assert.ok((await harness.get(ids[0]!)).timers[0]!.wakeAt! > harness.now)
    harness.isPaused = () => false
    harness.clock.step(2 * 3_600_000)
    assert.deepEqual(await claimedNow(harness, leases), ids)
  },

  async 'a forced fire is paused too, and a report is not'(harness) {
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
    const paused = (await harness.get(forced)).timers.filter(({ waiting }) => waiting === 'operator_pause')
    assert.deepEqual(
      paused.map(({ kind }) => kind),
      ['forced'],
    )
  },

  async 'a paused alarm can be cancelled and rescheduled'(harness) {
    const { leases, ids } = await pausedAlarms(harness, 2)
    assert.equal(await harness.cancel(ids[0]!), 'cancelled')
    await harness.edit(ids[1]!, (found, context) => {
      const first = context.now + 1000
      const rule = { ...found.alarm.rule, at: first } as typeof found.alarm.rule
      return replace(found, { alarm: { ...found.alarm, rule }, first }, 'reschedule', context)
    })
    const [timer] = (await harness.get(ids[1]!)).timers
    assert.deepEqual([timer!.waiting, timer!.wakeAt], [null, harness.now + 1000])
    assert.equal(await requeue(harness, leases, TENANT), 0)
    harness.isPaused = () => false
    harness.clock.step(1000)
    assert.deepEqual(await claimedNow(harness, leases), [ids[1]])
  },

  async 'what was missed during a pause is handled as after downtime'(harness) {
    const leases = await harness.heartbeat()
    harness.isPaused = () => true
    const once = await harness.alarm({ every: '1m' })
    const skip = await harness.alarm({ delay: '1m', misfire: 'skip' })
    harness.clock.step(60_000)
    await harness.claim(leases)
    harness.clock.step(10 * 60_000)
    await harness.claim(leases)
    harness.isPaused = () => false
    assert.equal(await requeue(harness, leases, TENANT), 2)
    const [claimed] = (await harness.claim(leases)).timers
    assert.equal(claimed!.timer.scheduledFor, harness.now, 'the newest of what was missed')
    await harness.settle(claimed!, 'delivered')
    assert.deepEqual(await harness.types(once), ['alarm.skipped', 'alarm.fired'])
    assert.deepEqual(await harness.types(skip), ['alarm.skipped'])
  },
})

/** A timer that the engine has no slot for is passed over and stays as it is. */
export const passCases = casesOf('limits', {
  async 'a timer that is passed over stays due, unwritten, and more is reported'(harness) {
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
      await claimedNow(harness, leases),
      ids.filter((id) => id !== ids[3]),
    )
  },

  async 'a timer that was passed over is found again after a scan for other tenants'(harness) {
    const leases = await harness.heartbeat()
    const [, zeta] = OTHERS
    const ids = await dueOnes(harness, 3)
    const other = await harness.alarm({ delay: '1s' }, {}, zeta!)
    await harness.claim(leases, { passes: () => true })
    const skipTenants = new Set(['acme'])
    const early = await harness.claim(leases, { skipTenants })
    assert.deepEqual([early.timers.length, early.nextWakeAt], [0, harness.now + 1000])
    harness.clock.step(1000)
    const { timers: claimed } = await harness.claim(leases, { skipTenants })
    assert.deepEqual(
      claimed.map(({ alarm }) => alarm.id),
      [other],
    )
    await harness.settle(claimed, 'delivered')
    assert.deepEqual(await claimedNow(harness, leases), ids)
  },

  async 'finds due timers among many owners, also long overdue ones'(harness) {
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
      const { timers: claimed } = await harness.claim(leases, { skipTenants: new Set(['acme']) })
      found.push(...claimed.map(({ alarm }) => alarm.id))
      if (claimed.length > 0) await harness.settle(claimed, 'delivered')
    }
    assert.deepEqual(found.sort(), ids.sort())
  },

  async 'skips an owner over its limit, and no other owner of its tenant'(harness) {
    const leases = await harness.heartbeat()
    const [bob, zeta] = OTHERS
    const ids = await dueOnes(harness, 3)
    const bobs = await harness.alarm({ delay: '1s' }, {}, bob!)
    const zetas = await harness.alarm({ delay: '2s' }, {}, zeta!)
    harness.clock.step(1000)
    const request = { skipTenants: new Set<string>(), skipOwners: new Set([ownerKey(ANN)]) }
    const { timers: claimed, nextWakeAt } = await harness.claim(leases, request)
    assert.deepEqual(
      claimed.map(({ alarm }) => alarm.id),
      [bobs],
    )
    assert.equal(nextWakeAt, harness.now + 1000)
    await harness.settle(claimed, 'delivered')
    harness.clock.step(1000)
    assert.deepEqual(await claimedNow(harness, leases), [...ids, zetas])
  },
})

/** Alarms of Ann's that came due a second apart. */
async function dueOnes(harness: Harness, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 1; i <= count; i++) ids.push(await harness.alarm({ delay: `${i}s` }))
  harness.clock.step(count * 1000)
  return ids
}

/** Ann's alarms, due a second apart and paused. */
async function pausedAlarms(harness: Harness, count: number): Promise<{ leases: Lease[]; ids: string[] }> {
  const leases = await harness.heartbeat()
  const ids = await dueOnes(harness, count)
  harness.isPaused = () => true
  assert.deepEqual((await harness.claim(leases)).timers, [])
  return { leases, ids }
}

function requeue(
  harness: Harness,
  leases: readonly Lease[],
  which: WaitingFilter,
  limit = 10,
): Promise<number> {
  return harness.store.requeueWaiting(leases, which, harness.now, limit)
}

/** Claims and delivers what is due; returns it, the most overdue first. */
async function claimedNow(harness: Harness, leases: readonly Lease[]): Promise<string[]> {
  const { timers: claimed } = await harness.claim(leases)
  if (claimed.length > 0) await harness.settle(claimed, 'delivered')
  const due = [...claimed].sort((a, b) => a.timer.scheduledFor - b.timer.scheduledFor)
  return due.map(({ alarm }) => alarm.id)
}
