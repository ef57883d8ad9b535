import assert from 'node:assert/strict'
import type { ClaimedTimer, Settlement } from '../store.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness } from './harness.ts'

/** What a transactional handler writes commits with its settle, or not at all. */
export const transactionCases = casesOf('transactions', {
  async 'what the work wrote commits with the settle'(harness) {
    const claimed = await inFlight(harness)
    const written = harness.request({ delay: '1h' }, { label: 'written' })
    const settled = await harness.store.transact(
      claimed.lease,
      async (tx) => {
        await harness.store.set([written], harness.context(), tx)
        return settlement(harness, claimed)
      },
      harness.context,
    )
    await harness.store.settle([], [claimed.batch], harness.context())
    assert.deepEqual(settled, { lost: [], stale: 0 })
    assert.equal(await harness.state(written.alarm.id), 'active')
    assert.equal(await harness.state(claimed.alarm.id), 'fired')
    assert.deepEqual(await harness.types(claimed.alarm.id), ['alarm.fired'])
  },

  async 'other reads do not see what the work wrote before it commits'(harness) {
    const peer = await harness.peer()
    const claimed = await inFlight(harness)
    const written = harness.request({ delay: '1h' })
    const work = async (tx: unknown) => {
      await harness.store.set([written], harness.context(), tx)
      assert.equal(await peer.get(ANN, written.alarm), null)
      return settlement(harness, claimed)
    }
    await harness.store.transact(claimed.lease, work, harness.context)
    await harness.store.settle([], [claimed.batch], harness.context())
    assert.equal((await peer.get(ANN, written.alarm))!.timers.length, 1)
  },

  async 'work that fails leaves nothing behind, and its occurrence can still be settled'(harness) {
    const claimed = await inFlight(harness)
    const failing = async (tx: unknown): Promise<Settlement> => {
      await harness.store.set([harness.request({ delay: '1h' })], harness.context(), tx)
      throw new Error('halfway')
    }
    await assert.rejects(harness.store.transact(claimed.lease, failing, harness.context), /halfway/)
    assert.equal((await harness.store.stats(ANN)).total, 1)
    assert.deepEqual(await harness.settle(claimed, 'failed'), { lost: [], stale: 0 })
    assert.deepEqual(await harness.types(claimed.alarm.id), ['alarm.attempt_failed'])
  },

  async 'work under a lost lease is not started (fenced)'(harness) {
    const claimed = await inFlight(harness)
    await harness.store.releaseLeases([claimed.lease])
    await harness.heartbeat('two')
    const work = () => assert.fail('it was begun')
    const { lost } = await harness.store.transact(claimed.lease, work, harness.context)
    assert.deepEqual(lost, [claimed.lease])
  },

  async 'work whose occurrence was settled during it leaves nothing behind'(harness) {
    const claimed = await inFlight(harness)
    await harness.settle(claimed, 'delivered')
    const work = async (tx: unknown) => {
      await harness.store.set([harness.request({ delay: '1h' })], harness.context(), tx)
      return settlement(harness, claimed)
    }
    assert.equal((await harness.store.transact(claimed.lease, work, harness.context)).stale, 1)
    assert.equal((await harness.store.stats(ANN)).total, 1)
  },

  async 'other writes wait for the work and are not lost'(harness) {
    const claimed = await inFlight(harness)
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const transacted = harness.store.transact(
      claimed.lease,
      async () => {
        begun.resolve()
        await go.promise
        return settlement(harness, claimed)
      },
      harness.context,
    )
    await begun.promise
    const sets = Promise.all(Array.from({ length: 5 }, () => harness.alarm({ delay: '1h' })))
    go.resolve()
    await Promise.all([transacted, sets])
    assert.equal((await harness.store.stats(ANN)).total, 6)
  },
})

async function inFlight(harness: Harness): Promise<ClaimedTimer> {
  harness.needTransact()
  const leases = await harness.heartbeat()
  await harness.alarm({ delay: '1s' })
  harness.clock.step(1000)
  return harness.claimOne(leases)
}

function settlement(harness: Harness, { lease, alarm, timer }: ClaimedTimer): Settlement {
  return { lease, alarm, timer, delivery: harness.delivery('delivered') }
}
