import assert from 'node:assert/strict'
import { occurrenceId, POOLS_MAX, pause } from '../../alarm/index.ts'
import { casesOf } from './conformance-case.ts'

/** Two processes never both run a shard's clock, and nothing a former owner says is accepted (fenced). */
export const ownershipCases = casesOf('ownership', {
  async 'a heartbeat renews the lease under the same epoch'(bench) {
    const [first] = await bench.own('one', ['app'])
    bench.clock.step(bench.store.heartbeatMs)
    const [second] = await bench.own('one', ['app'])
    assert.deepEqual([second!.epoch, second!.shard, second!.holder], [first!.epoch, first!.shard, 'one'])
    assert.equal(second!.until - first!.until, bench.store.heartbeatMs)
    assert.ok(bench.store.heartbeatMs < bench.store.leaseMs)
  },

  async 'each new owner has a greater epoch'(bench) {
    const epochs: number[] = []
    for (const owner of ['one', 'two', 'one']) {
      const [lease] = await bench.own(owner, ['app'])
      epochs.push(lease!.epoch)
      await bench.store.releaseLeases([lease!])
    }
    assert.ok(epochs[0]! < epochs[1]! && epochs[1]! < epochs[2]!, epochs.join(' '))
  },

  async 'tells who runs the clock of each pool, and what waits there'(bench) {
    await bench.alarm({ delay: '1m' })
    const [lease] = await bench.own('one', ['app'])
    const of = async () => (await bench.store.shardStates()).find(({ pool }) => pool === 'app')
    const shard = await of()
    assert.deepEqual(
      [shard!.holder, shard!.epoch, shard!.pending, shard!.nextWakeAt],
      ['one', lease!.epoch, 1, bench.now + 60_000],
    )
    assert.deepEqual((await bench.store.shardStates(false))[0]!.pending, 0)
    await bench.store.releaseLeases([lease!])
    assert.equal((await of())!.holder, null)
  },

  async 'counts what is due by a moment, and nothing that is not'(bench) {
    await bench.alarm({ delay: '1m' })
    await bench.alarm({ delay: '2m' })
    const dueBy = async (at: number) =>
      (await bench.store.shardStates({ dueBy: at })).reduce((sum, { pending }) => sum + pending, 0)
    const counts = [await dueBy(bench.now), await dueBy(bench.now + 60_000), await dueBy(bench.now + 120_000)]
    assert.deepEqual(counts, [0, 1, 2])
  },

  async 'tells of the pools that are named alone'(bench) {
    await bench.own('one', ['app', 'theirs'])
    const told = async (pools?: readonly string[]) =>
      new Set((await bench.store.shardStates(false, pools)).map(({ pool }) => pool))
    assert.deepEqual(await told(), new Set(['app', 'theirs']))
    assert.deepEqual(await told(['theirs']), new Set(['theirs']))
    assert.deepEqual(await told([]), new Set())
  },

  async 'makes only so many pools for alarms, and those that are served all the same'(bench) {
    const setIn = (pool: string) => bench.alarm({ delay: '1m' }, { target: { handler: 'x', pool } })
    const counted = async () => new Set((await bench.store.shardStates(false)).map(({ pool }) => pool)).size
    for (let made = 0; made < POOLS_MAX; made += 1) await setIn(`pool-${made}`)
    const refusals = await Promise.allSettled([setIn('one-more'), setIn('another')])
    for (const refusal of refusals) {
      assert.equal(refusal.status, 'rejected')
      assert.match(String(refusal.reason), /would be one more than the 100 a store has room for: name one/)
    }
    assert.equal(await counted(), POOLS_MAX)
    await setIn('pool-7')
    await setIn('app')
    assert.notEqual((await bench.own('one', ['mine'])).length, 0)
    await setIn('mine')
    assert.equal(await counted(), POOLS_MAX + 2)
  },

  async 'a process takes only from pools it owns'(bench) {
    await bench.alarm({ delay: '1s' }, { target: { handler: 'x', pool: 'theirs' } })
    bench.clock.step(1000)
    const mine = await bench.own('one', ['app', 'wakeful'])
    assert.deepEqual((await bench.take(mine)).timers, [])
    assert.equal((await bench.take(await bench.own('one', ['theirs']))).timers.length, 1)
  },

  async 'a settle under an old epoch is void (fenced)'(bench) {
    const old = await bench.own('one')
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(old)
    await bench.store.releaseLeases(old)
    await bench.own('two')
    const before = [await bench.get(id), await bench.events()]
    for (const came of ['delivered', 'failed', 'released'] as const)
      assert.deepEqual((await bench.settle(taking, came)).lost, [taking.lease])
    assert.deepEqual([await bench.get(id), await bench.events()], before)
  },

  async 'a take under an old epoch brings nothing and says that the lease is lost (fenced)'(bench) {
    const old = await bench.own('one')
    await bench.alarm({ delay: '1s' })
    await bench.store.releaseLeases(old)
    const leases = await bench.own('two')
    bench.clock.step(1000)
    const { timers: takings, lost } = await bench.take(old)
    assert.deepEqual([takings, lost.map(({ pool }) => pool).sort()], [[], ['app', 'wakeful']])
    assert.equal((await bench.take(leases)).timers.length, 1)
  },

  async 'what was in flight when its owner went counts as an attempt, and fires again under the same id'(
    bench,
  ) {
    const old = await bench.own('one')
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(old)
    await bench.store.releaseLeases(old)
    const again = await bench.takeOne(await bench.own('two'))
    assert.equal(again.timer.attempt, 1)
    assert.equal(occurrenceId(again.alarm, again.timer), occurrenceId(taking.alarm, taking.timer))
    await bench.settle(again, 'delivered')
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'a delivery that ends its process each time ends some day itself'(bench) {
    const id = await bench.alarm({ delay: '1s' }, { maxFailures: 3 })
    bench.clock.step(1000)
    for (const owner of ['one', 'two', 'three']) {
      const leases = await bench.own(owner)
      await bench.takeOne(leases)
      await bench.store.releaseLeases(leases)
    }
    assert.deepEqual((await bench.take(await bench.own('four'))).timers, [])
    assert.deepEqual([await bench.state(id), (await bench.get(id)).outcome!.attempts], ['failed', 3])
  },

  async 'a recurring alarm loses no occurrence to a takeover'(bench) {
    const old = await bench.own('one')
    const id = await bench.alarm({ every: '1h' })
    bench.clock.step(3_600_000)
    await bench.takeOne(old)
    await bench.store.releaseLeases(old)
    const leases = await bench.own('two')
    await bench.settle(await bench.takeOne(leases), 'delivered')
    bench.clock.step(3_600_000)
    await bench.settle(await bench.takeOne(leases), 'delivered')
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.fired', 'alarm.fired'])
  },

  async 'an alarm paused while it fired stays paused over a takeover'(bench) {
    const old = await bench.own('one')
    const id = await bench.alarm({ every: '1h' })
    bench.clock.step(3_600_000)
    await bench.takeOne(old)
    await bench.edit(id, pause)
    await bench.store.releaseLeases(old)
    const leases = await bench.own('two')
    await bench.settle((await bench.take(leases)).timers, 'delivered')
    bench.clock.step(3_600_000)
    assert.deepEqual([(await bench.take(leases)).timers, await bench.state(id)], [[], 'paused'])
  },

  async 'what had landed is not counted again'(bench) {
    const old = await bench.own('one')
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    await bench.settle(await bench.takeOne(old), 'released')
    await bench.store.releaseLeases(old)
    assert.equal((await bench.takeOne(await bench.own('two'))).timer.attempt, 0)
    assert.deepEqual(await bench.types(id), [])
  },

  async 'another process gets no lease while the first one beats'(bench) {
    const peer = await bench.peer()
    await bench.own('one')
    for (let i = 0; i < 8; i++) {
      assert.deepEqual(await bench.own('two', ['app', 'wakeful'], peer), [])
      bench.clock.step(bench.store.heartbeatMs)
      await bench.realMoment()
      assert.equal((await bench.own('one')).length, 2)
    }
  },

  async 'another process takes over at once from one that gave its lease back'(bench) {
    const peer = await bench.peer()
    const old = await bench.own('one')
    assert.deepEqual(await bench.own('two', ['app', 'wakeful'], peer), [])
    await bench.store.releaseLeases(old)
    assert.equal((await bench.own('two', ['app', 'wakeful'], peer)).length, 2)
    assert.deepEqual(await bench.own('one'), [])
  },

  async 'a process that left and came again is not taken for one whose beat stands still (fenced)'(bench) {
    const peer = await bench.peer()
    const leases = await bench.own('one')
    await bench.own('two', ['app', 'wakeful'], peer)
    await bench.store.releaseLeases(leases)
    bench.clock.step(bench.store.leaseMs)
    await bench.own('one')
    assert.deepEqual(await bench.own('two', ['app', 'wakeful'], peer), [])
  },

  async 'another process takes over within a lease from one that no longer beats, which is then fenced off'(
    bench,
  ) {
    const peer = await bench.peer()
    const old = await bench.own('one')
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(old)
    let leases = await bench.own('two', ['app'], peer)
    for (let waited = 0; leases.length === 0; waited += peer.heartbeatMs) {
      assert.ok(waited <= peer.leaseMs + peer.heartbeatMs, 'takeover takes at most a lease and a beat')
      bench.clock.step(peer.heartbeatMs)
      leases = await bench.own('two', ['app'], peer)
    }
    assert.ok(old[0]!.until <= bench.clock.monotonic(), 'nobody else may start while the lease lasts')
    const { timers: takings } = await bench.take(leases, {}, peer)
    assert.deepEqual((await bench.settle(taking, 'delivered')).lost, [taking.lease])
    await bench.settle(takings, 'delivered', peer)
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'a set of another process is seen, taken and told of'(bench) {
    const peer = await bench.peer()
    const told = Promise.withResolvers<void>()
    const stop = bench.store.onChange(() => told.resolve())
    const request = bench.request({ delay: '1s' })
    await peer.set([request], bench.context())
    await told.promise
    stop()
    bench.clock.step(1000)
    assert.equal((await bench.takeOne(await bench.own())).alarm.id, request.alarm.id)
  },
})
