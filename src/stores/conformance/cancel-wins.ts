import assert from 'node:assert/strict'
import { isEnd } from '../../alarm/index.ts'
import { casesOf } from './conformance-case.ts'

/** After `cancel` has answered `cancelled`, no delivery starts; otherwise it answers that it came too late. */
export const cancelCases = casesOf('cancel-wins', {
  async 'a cancel before the claim wins: the alarm is never claimed'(harness) {
    const leases = await harness.heartbeat()
    for (const when of [{ delay: '1s' }, { every: '1s' }]) {
      const id = await harness.alarm(when)
      harness.clock.step(1000)
      assert.equal(await harness.cancel(id), 'cancelled')
      assert.deepEqual((await harness.claim(leases)).timers, [])
      assert.deepEqual([await harness.state(id), await harness.types(id)], ['cancelled', ['alarm.cancelled']])
      assert.equal(await harness.cancel(id), 'ended')
    }
  },

  async 'of a concurrent cancel and claim, exactly one wins'(harness) {
    const leases = await harness.heartbeat()
    for (let i = 0; i < 20; i++) {
      const id = await harness.alarm({ delay: '1s' })
      harness.clock.step(1000)
      const calls = [() => harness.cancel(id), () => harness.claim(leases)] as const
      const [outcome, { timers: claimed }] =
        i % 2 === 0
          ? await Promise.all([calls[0](), calls[1]()])
          : await Promise.all([calls[1](), calls[0]()]).then(
              ([claimed, answer]) => [answer, claimed] as const,
            )
      assert.equal(outcome, claimed.length === 0 ? 'cancelled' : 'firing')
      await harness.settle(claimed, 'delivered')
    }
  },

  async 'a cancel after the claim answers `firing`; a failed delivery is not retried'(harness) {
    const leases = await harness.heartbeat()
    for (const when of [{ delay: '1s' }, { every: '1h' }]) {
      const id = await harness.alarm(when)
      harness.clock.step(3_600_000)
      const claimed = await harness.claimOne(leases)
      assert.deepEqual([await harness.cancel(id), await harness.cancel(id)], ['firing', 'firing'])
      await harness.settle(claimed, 'failed')
      assert.ok(isEnd(await harness.state(id)))
      harness.clock.step(48 * 3_600_000)
      assert.deepEqual((await harness.claim(leases)).timers, [])
    }
  },

  async 'a recurring alarm cancelled while it fires does not recur'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' })
    harness.clock.step(3_600_000)
    const claimed = await harness.claimOne(leases)
    assert.equal(await harness.cancel(id), 'firing')
    await harness.settle(claimed, 'delivered')
    assert.deepEqual(
      [await harness.state(id), await harness.types(id)],
      ['cancelled', ['alarm.fired', 'alarm.cancelled']],
    )
  },

  async 'a delivery whose alarm was cancelled during it awaits no report'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { ack: 'report' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    assert.equal(await harness.cancel(id), 'firing')
    await harness.settle(claimed, 'delivered')
    assert.equal(await harness.state(id), 'cancelled')
  },

  async 'a delivery that is released after a cancel is not claimed again'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    await harness.cancel(id)
    await harness.settle(claimed, 'released')
    assert.deepEqual([await harness.state(id), (await harness.claim(leases)).timers], ['cancelled', []])
  },

  async 'a new lease holder does not deliver what was cancelled while it fired'(harness) {
    for (const when of [{ delay: '1s' }, { every: '1h' }]) {
      const old = await harness.heartbeat()
      const id = await harness.alarm(when)
      harness.clock.step(3_600_000)
      const claimed = await harness.claimOne(old)
      assert.equal(await harness.cancel(id), 'firing')
      await harness.store.releaseLeases(old)
      const leases = await harness.heartbeat('two')
      assert.deepEqual((await harness.claim(leases)).timers, [])
      assert.equal(await harness.state(id), 'cancelled')
      await harness.settle(claimed, 'delivered')
      assert.deepEqual(await harness.types(id), ['alarm.skipped', 'alarm.cancelled'])
      await harness.store.releaseLeases(leases)
    }
  },

  async 'a cancel drops the retry, and the occurrence is still recorded once'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' })
    harness.clock.step(3_600_000)
    await harness.settle(await harness.claimOne(leases), 'failed')
    assert.equal(await harness.cancel(id), 'cancelled')
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.skipped', 'alarm.cancelled'])
    harness.clock.step(3_600_000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
  },
})
