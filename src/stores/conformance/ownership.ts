import assert from 'node:assert/strict'
import { occurrenceId, POOLS_MAX, pause } from '../../alarm/index.ts'
import { casesOf } from './conformance-case.ts'

/** Two processes never both run a shard's clock, and nothing a former owner says is accepted (fenced). */
export const ownershipCases = casesOf('ownership', {
  async 'a heartbeat renews the lease under the same epoch'(harness) {
    const [first] = await harness.heartbeat('one', ['app'])
    harness.clock.step(harness.store.heartbeatMs)
    const [second] = await harness.heartbeat('one', ['app'])
    assert.deepEqual([second!.epoch, second!.shard, second!.holder], [first!.epoch, first!.shard, 'one'])
    assert.equal(second!.until - first!.until, harness.store.heartbeatMs)
    assert.ok(harness.store.heartbeatMs < harness.store.leaseMs)
  },

  async 'each new lease holder has a greater epoch'(harness) {
    const epochs: number[] = []
    for (const owner of ['one', 'two', 'one']) {
      const [lease] = await harness.heartbeat(owner, ['app'])
      epochs.push(lease!.epoch)
      await harness.store.releaseLeases([lease!])
    }
    assert.ok(epochs[0]! < epochs[1]! && epochs[1]! < epochs[2]!, epochs.join(' '))
  },

  async 'reports the lease holder of each pool and what is pending there'(harness) {
    await harness.alarm({ delay: '1m' })
    const [lease] = await harness.heartbeat('one', ['app'])
    const of = async () => (await harness.store.shardStates()).find(({ pool }) => pool === 'app')
    const shard = await of()
    assert.deepEqual(
      [shard!.holder, shard!.epoch, shard!.pending, shard!.nextWakeAt],
      ['one', lease!.epoch, 1, harness.now + 60_000],
    )
    assert.deepEqual((await harness.store.shardStates(false))[0]!.pending, 0)
    await harness.store.releaseLeases([lease!])
    assert.equal((await of())!.holder, null)
  },

  async 'counts what is due by an instant, and nothing else'(harness) {
    await harness.alarm({ delay: '1m' })
    await harness.alarm({ delay: '2m' })
    const dueBy = async (at: number) =>
      (await harness.store.shardStates({ dueBy: at })).reduce((sum, { pending }) => sum + pending, 0)
    const counts = [
      await dueBy(harness.now),
      await dueBy(harness.now + 60_000),
      await dueBy(harness.now + 120_000),
    ]
    assert.deepEqual(counts, [0, 1, 2])
  },

  async 'reports only the pools that are named'(harness) {
    await harness.heartbeat('one', ['app', 'theirs'])
    const reportedPools = async (pools?: readonly string[]) =>
      new Set((await harness.store.shardStates(false, pools)).map(({ pool }) => pool))
    assert.deepEqual(await reportedPools(), new Set(['app', 'theirs']))
    assert.deepEqual(await reportedPools(['theirs']), new Set(['theirs']))
    assert.deepEqual(await reportedPools([]), new Set())
  },

  async 'limits the pools that alarms create, but not those that are served'(harness) {
    const setIn = (pool: string) => harness.alarm({ delay: '1m' }, { target: { handler: 'x', pool } })
    const counted = async () => new Set((await harness.store.shardStates(false)).map(({ pool }) => pool)).size
    for (let made = 0; made < POOLS_MAX; made += 1) await setIn(`pool-${made}`)
    const refusals = await Promise.allSettled([setIn('one-more'), setIn('another')])
    for (const refusal of refusals) {
      assert.equal(refusal.status, 'rejected')
      assert.match(String(refusal.reason), /A store can have at most 100 pools/)
    }
    assert.equal(await counted(), POOLS_MAX)
    await setIn('pool-7')
    await setIn('app')
    assert.notEqual((await harness.heartbeat('one', ['mine'])).length, 0)
    await setIn('mine')
    assert.equal(await counted(), POOLS_MAX + 2)
  },

  async 'a process claims only from pools it has leases of'(harness) {
    await harness.alarm({ delay: '1s' }, { target: { handler: 'x', pool: 'theirs' } })
    harness.clock.step(1000)
    const mine = await harness.heartbeat('one', ['app', 'wakeful'])
    assert.deepEqual((await harness.claim(mine)).timers, [])
    assert.equal((await harness.claim(await harness.heartbeat('one', ['theirs']))).timers.length, 1)
  },

  async 'a settle under an old epoch is rejected (fenced)'(harness) {
    const old = await harness.heartbeat('one')
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(old)
    await harness.store.releaseLeases(old)
    await harness.heartbeat('two')
    const before = [await harness.get(id), await harness.events()]
    for (const outcome of ['delivered', 'failed', 'released'] as const)
      assert.deepEqual((await harness.settle(claimed, outcome)).lost, [claimed.lease])
    assert.deepEqual([await harness.get(id), await harness.events()], before)
  },

  async 'a claim under an old epoch returns nothing and reports the lease as lost (fenced)'(harness) {
    const old = await harness.heartbeat('one')
    await harness.alarm({ delay: '1s' })
    await harness.store.releaseLeases(old)
    const leases = await harness.heartbeat('two')
    harness.clock.step(1000)
    const { timers: claimed, lost } = await harness.claim(old)
    assert.deepEqual([claimed, lost.map(({ pool }) => pool).sort()], [[], ['app', 'wakeful']])
    assert.equal((await harness.claim(leases)).timers.length, 1)
  },

  async 'what was in flight when its process left counts as an attempt, and fires again under the same id'(
    harness,
  ) {
    const old = await harness.heartbeat('one')
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(old)
    await harness.store.releaseLeases(old)
    const again = await harness.claimOne(await harness.heartbeat('two'))
    assert.equal(again.timer.attempt, 1)
    assert.equal(occurrenceId(again.alarm, again.timer), occurrenceId(claimed.alarm, claimed.timer))
    await harness.settle(again, 'delivered')
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'a delivery that always crashes its process runs out of attempts'(harness) {
    const id = await harness.alarm({ delay: '1s' }, { maxFailures: 3 })
    harness.clock.step(1000)
    for (const owner of ['one', 'two', 'three']) {
      const leases = await harness.heartbeat(owner)
      await harness.claimOne(leases)
      await harness.store.releaseLeases(leases)
    }
    assert.deepEqual((await harness.claim(await harness.heartbeat('four'))).timers, [])
    assert.deepEqual([await harness.state(id), (await harness.get(id)).outcome!.attempts], ['failed', 3])
  },

  async 'a recurring alarm loses no occurrence to a takeover'(harness) {
    const old = await harness.heartbeat('one')
    const id = await harness.alarm({ every: '1h' })
    harness.clock.step(3_600_000)
    await harness.claimOne(old)
    await harness.store.releaseLeases(old)
    const leases = await harness.heartbeat('two')
    await harness.settle(await harness.claimOne(leases), 'delivered')
    harness.clock.step(3_600_000)
    await harness.settle(await harness.claimOne(leases), 'delivered')
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.fired', 'alarm.fired'])
  },

  async 'an alarm paused while it fired stays paused over a takeover'(harness) {
    const old = await harness.heartbeat('one')
    const id = await harness.alarm({ every: '1h' })
    harness.clock.step(3_600_000)
    await harness.claimOne(old)
    await harness.edit(id, pause)
    await harness.store.releaseLeases(old)
    const leases = await harness.heartbeat('two')
    await harness.settle((await harness.claim(leases)).timers, 'delivered')
    harness.clock.step(3_600_000)
    assert.deepEqual([(await harness.claim(leases)).timers, await harness.state(id)], [[], 'paused'])
  },

  async 'what was settled is not counted again'(harness) {
    const old = await harness.heartbeat('one')
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    await harness.settle(await harness.claimOne(old), 'released')
    await harness.store.releaseLeases(old)
    assert.equal((await harness.claimOne(await harness.heartbeat('two'))).timer.attempt, 0)
    assert.deepEqual(await harness.types(id), [])
  },

  async 'another process gets no lease while the first one sends heartbeats'(harness) {
    const peer = await harness.peer()
    await harness.heartbeat('one')
    for (let i = 0; i < 8; i++) {
      assert.deepEqual(await harness.heartbeat('two', ['app', 'wakeful'], peer), [])
      harness.clock.step(harness.store.heartbeatMs)
      await harness.waitRealTime()
      assert.equal((await harness.heartbeat('one')).length, 2)
    }
  },

  async 'another process takes over at once from one that released its lease'(harness) {
    const peer = await harness.peer()
    const old = await harness.heartbeat('one')
    assert.deepEqual(await harness.heartbeat('two', ['app', 'wakeful'], peer), [])
    await harness.store.releaseLeases(old)
    assert.equal((await harness.heartbeat('two', ['app', 'wakeful'], peer)).length, 2)
    assert.deepEqual(await harness.heartbeat('one'), [])
  },

  async 'another process takes over at once from one that left'(harness) {
    const peer = await harness.peer()
    const leases = await harness.heartbeat('one')
    assert.deepEqual(await harness.heartbeat('two', ['app', 'wakeful'], peer), [])
    await harness.store.leave('one')
    assert.equal((await harness.heartbeat('two', ['app', 'wakeful'], peer)).length, leases.length)
    assert.deepEqual(await harness.heartbeat('one'), [])
  },

  async 'a process without leases that left is not waited for'(harness) {
    const peer = await harness.peer()
    const leases = await harness.heartbeat('two')
    // It comes first in the order of names, so while it is there, the other one releases shards for it.
    assert.deepEqual(await harness.heartbeat('one', ['app', 'wakeful'], peer), [])
    await peer.leave('one')
    assert.deepEqual(await harness.heartbeat('two'), leases)
  },

  async 'a process that leaves keeps nothing in flight from the others'(harness) {
    const old = await harness.heartbeat('one')
    await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(old)
    await harness.store.leave('one')
    const again = await harness.claimOne(await harness.heartbeat('two'))
    assert.equal(again.timer.attempt, 1)
    assert.deepEqual((await harness.settle(claimed, 'delivered')).lost, [claimed.lease])
  },

  async 'the leases of one process stay when another one leaves'(harness) {
    const leases = await harness.heartbeat('one')
    await harness.store.leave('another')
    assert.deepEqual(await harness.heartbeat('one'), leases)
  },

  async 'releasing no lease does nothing'(harness) {
    const leases = await harness.heartbeat('one')
    await harness.store.releaseLeases([])
    assert.deepEqual(await harness.heartbeat('one'), leases)
  },

  async 'a process that left and came back is not mistaken for one without heartbeats (fenced)'(harness) {
    const peer = await harness.peer()
    const leases = await harness.heartbeat('one')
    await harness.heartbeat('two', ['app', 'wakeful'], peer)
    await harness.store.releaseLeases(leases)
    harness.clock.step(harness.store.leaseMs)
    await harness.heartbeat('one')
    assert.deepEqual(await harness.heartbeat('two', ['app', 'wakeful'], peer), [])
  },

  async 'another process takes over within a lease from one without heartbeats, which is then fenced off'(
    harness,
  ) {
    const peer = await harness.peer()
    const old = await harness.heartbeat('one')
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(old)
    let leases = await harness.heartbeat('two', ['app'], peer)
    for (let waited = 0; leases.length === 0; waited += peer.heartbeatMs) {
      assert.ok(waited <= peer.leaseMs + peer.heartbeatMs, 'takeover takes at most a lease and a beat')
      harness.clock.step(peer.heartbeatMs)
      leases = await harness.heartbeat('two', ['app'], peer)
    }
    assert.ok(old[0]!.until <= harness.clock.monotonic(), 'no other process may start while the lease lasts')
    const { timers: again } = await harness.claim(leases, {}, peer)
    assert.deepEqual((await harness.settle(claimed, 'delivered')).lost, [claimed.lease])
    await harness.settle(again, 'delivered', peer)
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'a set of another process is visible, claimed and notified'(harness) {
    const peer = await harness.peer()
    const notified = Promise.withResolvers<void>()
    const stop = harness.store.onChange(() => notified.resolve())
    const request = harness.request({ delay: '1s' })
    await peer.set([request], harness.context())
    await notified.promise
    stop()
    harness.clock.step(1000)
    assert.equal((await harness.claimOne(await harness.heartbeat())).alarm.id, request.alarm.id)
  },
})
