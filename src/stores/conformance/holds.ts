import assert from 'node:assert/strict'
import { fireNow, replace } from '../../alarm/index.ts'
import { type Lease, ownerKey, type WaitingFilter } from '../store.ts'
import { ANN, type Bench, OTHERS } from './bench.ts'
import { casesOf } from './conformance-case.ts'

const TENANT: WaitingFilter = { heldTenant: 'acme' }

/** What an operator holds: it waits, uncounted, and comes back as fast as it is asked for. */
export const holdCases = casesOf('holds', {
  async 'what is held waits uncounted, and others fire'(bench) {
    const leases = await bench.own()
    const [, zeta] = OTHERS
    const id = await bench.alarm({ delay: '1s' })
    const other = await bench.alarm({ delay: '1s' }, {}, zeta!)
    bench.isHeld = ({ tenant }) => tenant === 'acme'
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    assert.equal(taking.alarm.id, other)
    await bench.settle(taking, 'delivered')
    const [timer] = (await bench.get(id)).timers
    assert.deepEqual([timer!.waiting, timer!.attempt], ['operator_pause', 0])
    assert.deepEqual((await bench.take(leases)).timers, [])
    assert.deepEqual(await bench.types(id), [])
  },

  async 'comes back the longest held first, so many at a time, as if it had never been looked at'(bench) {
    const { leases, ids } = await heldOnes(bench, 5)
    bench.isHeld = () => false
    assert.deepEqual([await release(bench, leases, TENANT, 2), await release(bench, [], TENANT)], [2, 0])
    assert.deepEqual(await takenNow(bench, leases), ids.slice(0, 2))
    assert.equal((await bench.get(ids[2]!)).timers[0]!.waiting, 'operator_pause')
    assert.equal(await release(bench, leases, TENANT), 3)
    assert.equal(await release(bench, leases, TENANT), 0)
    for (const id of ids.slice(2)) {
      const [timer] = (await bench.get(id)).timers
      assert.deepEqual([timer!.waiting, timer!.wakeAt], [null, timer!.scheduledFor])
    }
    assert.deepEqual(await takenNow(bench, leases), ids.slice(2))
  },

  async 'of a tenant or of a target, and of no other'(bench) {
    const leases = await bench.own()
    const [bob, zeta] = OTHERS
    bench.isHeld = () => true
    const own = await bench.alarm({ delay: '1s' }, { target: 'a' })
    const bobs = await bench.alarm({ delay: '2s' }, { target: 'b' }, bob!)
    const zetas = await bench.alarm({ delay: '3s' }, { target: 'a' }, zeta!)
    bench.clock.step(3000)
    assert.deepEqual((await bench.take(leases)).timers, [])
    bench.isHeld = () => false
    assert.equal(await release(bench, leases, { heldTenant: 'nobody' }), 0)
    assert.equal(await release(bench, leases, { heldTarget: 'c' }), 0)
    assert.equal(await release(bench, leases, { handler: 'a' }), 0, 'it does not wait for its handler')
    assert.deepEqual((await bench.store.pausedTargets(leases, 10)).sort(), ['a', 'b'])
    assert.deepEqual((await bench.store.pausedTargets(leases, 1)).length, 1)
    assert.deepEqual(await bench.store.pausedTargets([], 10), [])
    assert.equal(await release(bench, leases, { heldTarget: 'a' }), 2)
    assert.deepEqual(await bench.store.pausedTargets(leases, 10), ['b'])
    assert.deepEqual(await takenNow(bench, leases), [own, zetas])
    assert.equal(await release(bench, leases, TENANT), 1)
    assert.deepEqual(await takenNow(bench, leases), [bobs])
  },

  async 'what waits for its handler is not taken for held'(bench) {
    const leases = await bench.own()
    bench.canRun = () => false
    await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    await bench.take(leases)
    assert.equal(await release(bench, leases, TENANT), 0)
    assert.equal(await release(bench, leases, { heldTarget: 'remind' }), 0)
    assert.equal(await release(bench, leases, { handler: 'remind' }), 1)
  },

  async 'is looked at again by itself some day, and held again or not'(bench) {
    const { leases, ids } = await heldOnes(bench, 1)
    const [before] = (await bench.get(ids[0]!)).timers
    bench.clock.step(before!.wakeAt! - bench.now)
    assert.deepEqual((await bench.take(leases)).timers, [])
    assert.ok((await bench.get(ids[0]!)).timers[0]!.wakeAt! > bench.now)
    bench.isHeld = () => false
    bench.clock.step(2 * 3_600_000)
    assert.deepEqual(await takenNow(bench, leases), ids)
  },

  async 'a fire by hand is held too, and a report is not'(bench) {
    const leases = await bench.own()
    const awaiting = await bench.alarm({ delay: '1s' }, { ack: 'report', completionTimeout: '1m' })
    bench.clock.step(1000)
    await bench.settle(await bench.takeOne(leases), 'delivered')
    const forced = await bench.alarm({ every: '1h' })
    await bench.edit(forced, fireNow)
    bench.isHeld = () => true
    bench.clock.step(60_000)
    assert.deepEqual((await bench.take(leases)).timers, [])
    assert.equal(await bench.state(awaiting), 'timed_out')
    const held = (await bench.get(forced)).timers.filter(({ waiting }) => waiting === 'operator_pause')
    assert.deepEqual(
      held.map(({ kind }) => kind),
      ['forced'],
    )
  },

  async 'can be cancelled and rescheduled as ever'(bench) {
    const { leases, ids } = await heldOnes(bench, 2)
    assert.equal(await bench.cancel(ids[0]!), 'cancelled')
    await bench.edit(ids[1]!, (found, context) => {
      const first = context.now + 1000
      const rule = { ...found.alarm.rule, at: first } as typeof found.alarm.rule
      return replace(found, { alarm: { ...found.alarm, rule }, first }, 'reschedule', context)
    })
    const [timer] = (await bench.get(ids[1]!)).timers
    assert.deepEqual([timer!.waiting, timer!.wakeAt], [null, bench.now + 1000])
    assert.equal(await release(bench, leases, TENANT), 0)
    bench.isHeld = () => false
    bench.clock.step(1000)
    assert.deepEqual(await takenNow(bench, leases), [ids[1]])
  },

  async 'what was missed meanwhile is judged as after a standstill'(bench) {
    const leases = await bench.own()
    bench.isHeld = () => true
    const once = await bench.alarm({ every: '1m' })
    const skip = await bench.alarm({ delay: '1m', misfire: 'skip' })
    bench.clock.step(60_000)
    await bench.take(leases)
    bench.clock.step(10 * 60_000)
    await bench.take(leases)
    bench.isHeld = () => false
    assert.equal(await release(bench, leases, TENANT), 2)
    const [taking] = (await bench.take(leases)).timers
    assert.equal(taking!.timer.scheduledFor, bench.now, 'the newest of what was missed')
    await bench.settle(taking!, 'delivered')
    assert.deepEqual(await bench.types(once), ['alarm.skipped', 'alarm.fired'])
    assert.deepEqual(await bench.types(skip), ['alarm.skipped'])
  },
})

/** What whoever takes has no room for stays as it is. */
export const passCases = casesOf('limits', {
  async 'what is passed stays due, unwritten, and says that there is more'(bench) {
    const leases = await bench.own()
    const ids = await dueOnes(bench, 5)
    const before = (await bench.get(ids[0]!)).timers
    const none = await bench.take(leases, { passes: () => true })
    assert.deepEqual([none.timers.length, none.more, none.nextWakeAt! <= bench.now], [0, true, true])
    assert.deepEqual((await bench.get(ids[0]!)).timers, before)
    const some = await bench.take(leases, { passes: ({ id }) => id !== ids[3] })
    assert.deepEqual(
      some.timers.map(({ alarm }) => alarm.id),
      [ids[3]],
    )
    assert.equal(some.more, true)
    await bench.settle(some.timers, 'delivered')
    assert.deepEqual(
      await takenNow(bench, leases),
      ids.filter((id) => id !== ids[3]),
    )
  },

  async 'is found again after others were looked for'(bench) {
    const leases = await bench.own()
    const [, zeta] = OTHERS
    const ids = await dueOnes(bench, 3)
    const other = await bench.alarm({ delay: '1s' }, {}, zeta!)
    await bench.take(leases, { passes: () => true })
    const avoid = new Set(['acme'])
    const early = await bench.take(leases, { avoid })
    assert.deepEqual([early.timers.length, early.nextWakeAt], [0, bench.now + 1000])
    bench.clock.step(1000)
    const { timers: takings } = await bench.take(leases, { avoid })
    assert.deepEqual(
      takings.map(({ alarm }) => alarm.id),
      [other],
    )
    await bench.settle(takings, 'delivered')
    assert.deepEqual(await takenNow(bench, leases), ids)
  },

  async 'finds who is due among many owners, also those who are due for long'(bench) {
    const leases = await bench.own()
    await dueOnes(bench, 3)
    const scopes = Array.from({ length: 150 }, (_, i) => ({ tenant: `t${1000 + i}`, owner: 'o' }))
    const sets = scopes.map((scope) => bench.request({ delay: '1d' }, {}, scope))
    await bench.store.set(sets, bench.context())
    const ids = [await bench.alarm({ delay: '1s' }, {}, scopes[140]!)]
    bench.clock.step(60_000)
    // Newer than that, and not to be had: an owner by owner look comes by all the same.
    const newer = Array.from({ length: 600 }, () => bench.request({ delay: '1s' }))
    await bench.store.set(newer, bench.context())
    ids.push(await bench.alarm({ delay: '1s' }, {}, scopes[70]!))
    bench.clock.step(1000)
    const found: string[] = []
    for (let looks = 0; looks < 20 && found.length < 2; looks++) {
      const { timers: takings } = await bench.take(leases, { avoid: new Set(['acme']) })
      found.push(...takings.map(({ alarm }) => alarm.id))
      if (takings.length > 0) await bench.settle(takings, 'delivered')
    }
    assert.deepEqual(found.sort(), ids.sort())
  },

  async 'passes over an owner that has enough, and no other of its tenant'(bench) {
    const leases = await bench.own()
    const [bob, zeta] = OTHERS
    const ids = await dueOnes(bench, 3)
    const bobs = await bench.alarm({ delay: '1s' }, {}, bob!)
    const zetas = await bench.alarm({ delay: '2s' }, {}, zeta!)
    bench.clock.step(1000)
    const request = { avoid: new Set<string>(), avoidOwners: new Set([ownerKey(ANN)]) }
    const { timers: takings, nextWakeAt } = await bench.take(leases, request)
    assert.deepEqual(
      takings.map(({ alarm }) => alarm.id),
      [bobs],
    )
    assert.equal(nextWakeAt, bench.now + 1000)
    await bench.settle(takings, 'delivered')
    bench.clock.step(1000)
    assert.deepEqual(await takenNow(bench, leases), [...ids, zetas])
  },
})

/** Alarms of Ann's that came due a second apart. */
async function dueOnes(bench: Bench, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 1; i <= count; i++) ids.push(await bench.alarm({ delay: `${i}s` }))
  bench.clock.step(count * 1000)
  return ids
}

/** Alarms of Ann's that came due a second apart, and are held. */
async function heldOnes(bench: Bench, count: number): Promise<{ leases: Lease[]; ids: string[] }> {
  const leases = await bench.own()
  const ids = await dueOnes(bench, count)
  bench.isHeld = () => true
  assert.deepEqual((await bench.take(leases)).timers, [])
  return { leases, ids }
}

function release(bench: Bench, leases: readonly Lease[], which: WaitingFilter, limit = 10): Promise<number> {
  return bench.store.requeueWaiting(leases, which, bench.now, limit)
}

/** What is taken now, the most overdue first; it is delivered. */
async function takenNow(bench: Bench, leases: readonly Lease[]): Promise<string[]> {
  const { timers: takings } = await bench.take(leases)
  if (takings.length > 0) await bench.settle(takings, 'delivered')
  const due = [...takings].sort((a, b) => a.timer.scheduledFor - b.timer.scheduledFor)
  return due.map(({ alarm }) => alarm.id)
}
