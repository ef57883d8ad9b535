import assert from 'node:assert/strict'
import { isEnd } from '../../alarm/index.ts'
import { casesOf } from './conformance-case.ts'

/** When `cancel` has answered `cancelled`, no delivery starts; otherwise it says that it came too late. */
export const cancelCases = casesOf('cancel-wins', {
  async 'a cancel before the take wins: it is never taken'(bench) {
    const leases = await bench.own()
    for (const when of [{ delay: '1s' }, { every: '1s' }]) {
      const id = await bench.alarm(when)
      bench.clock.step(1000)
      assert.equal(await bench.cancel(id), 'cancelled')
      assert.deepEqual((await bench.take(leases)).timers, [])
      assert.deepEqual([await bench.state(id), await bench.types(id)], ['cancelled', ['alarm.cancelled']])
      assert.equal(await bench.cancel(id), 'ended')
    }
  },

  async 'of a cancel and a take at the same moment, exactly one wins'(bench) {
    const leases = await bench.own()
    for (let i = 0; i < 20; i++) {
      const id = await bench.alarm({ delay: '1s' })
      bench.clock.step(1000)
      const calls = [() => bench.cancel(id), () => bench.take(leases)] as const
      const [outcome, { timers: takings }] =
        i % 2 === 0
          ? await Promise.all([calls[0](), calls[1]()])
          : await Promise.all([calls[1](), calls[0]()]).then(([taken, said]) => [said, taken] as const)
      assert.equal(outcome, takings.length === 0 ? 'cancelled' : 'firing')
      await bench.settle(takings, 'delivered')
    }
  },

  async 'a cancel after the take says that it is firing; what failed is not tried again'(bench) {
    const leases = await bench.own()
    for (const when of [{ delay: '1s' }, { every: '1h' }]) {
      const id = await bench.alarm(when)
      bench.clock.step(3_600_000)
      const taking = await bench.takeOne(leases)
      assert.deepEqual([await bench.cancel(id), await bench.cancel(id)], ['firing', 'firing'])
      await bench.settle(taking, 'failed')
      assert.ok(isEnd(await bench.state(id)))
      bench.clock.step(48 * 3_600_000)
      assert.deepEqual((await bench.take(leases)).timers, [])
    }
  },

  async 'a recurring alarm cancelled while it fires does not recur'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ every: '1h' })
    bench.clock.step(3_600_000)
    const taking = await bench.takeOne(leases)
    assert.equal(await bench.cancel(id), 'firing')
    await bench.settle(taking, 'delivered')
    assert.deepEqual(
      [await bench.state(id), await bench.types(id)],
      ['cancelled', ['alarm.fired', 'alarm.cancelled']],
    )
  },

  async 'a delivery whose alarm was cancelled meanwhile awaits no report'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' }, { ack: 'report' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    assert.equal(await bench.cancel(id), 'firing')
    await bench.settle(taking, 'delivered')
    assert.equal(await bench.state(id), 'cancelled')
  },

  async 'what was cancelled while it fired is given back to nobody'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    await bench.cancel(id)
    await bench.settle(taking, 'released')
    assert.deepEqual([await bench.state(id), (await bench.take(leases)).timers], ['cancelled', []])
  },

  async 'a new owner delivers nothing of what was cancelled while it fired'(bench) {
    for (const when of [{ delay: '1s' }, { every: '1h' }]) {
      const old = await bench.own()
      const id = await bench.alarm(when)
      bench.clock.step(3_600_000)
      const taking = await bench.takeOne(old)
      assert.equal(await bench.cancel(id), 'firing')
      await bench.store.releaseLeases(old)
      const leases = await bench.own('two')
      assert.deepEqual((await bench.take(leases)).timers, [])
      assert.equal(await bench.state(id), 'cancelled')
      await bench.settle(taking, 'delivered')
      assert.deepEqual(await bench.types(id), ['alarm.skipped', 'alarm.cancelled'])
      await bench.store.releaseLeases(leases)
    }
  },

  async 'a cancel drops the retry, and the occurrence still ends as one record'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ every: '1h' })
    bench.clock.step(3_600_000)
    await bench.settle(await bench.takeOne(leases), 'failed')
    assert.equal(await bench.cancel(id), 'cancelled')
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.skipped', 'alarm.cancelled'])
    bench.clock.step(3_600_000)
    assert.deepEqual((await bench.take(leases)).timers, [])
  },
})
