import assert from 'node:assert/strict'
import type { ClaimedTimer, Settlement } from '../store.ts'
import { ANN, type Bench } from './bench.ts'
import { casesOf } from './conformance-case.ts'

/** What a transactional handler writes commits with its settle, or not at all. */
export const transactionCases = casesOf('transactions', {
  async 'what the work wrote commits with the settle'(bench) {
    const taking = await flying(bench)
    const written = bench.request({ delay: '1h' }, { label: 'written' })
    const settled = await bench.store.transact(
      taking.lease,
      async (tx) => {
        await bench.store.set([written], bench.context(), tx)
        return settlement(bench, taking)
      },
      bench.context,
    )
    await bench.store.settle([], [taking.batch], bench.context())
    assert.deepEqual(settled, { lost: [], stale: 0 })
    assert.equal(await bench.state(written.alarm.id), 'active')
    assert.equal(await bench.state(taking.alarm.id), 'fired')
    assert.deepEqual(await bench.types(taking.alarm.id), ['alarm.fired'])
  },

  async 'nobody else sees what the work wrote before it commits'(bench) {
    const peer = await bench.peer()
    const taking = await flying(bench)
    const written = bench.request({ delay: '1h' })
    const work = async (tx: unknown) => {
      await bench.store.set([written], bench.context(), tx)
      assert.equal(await peer.get(ANN, written.alarm), null)
      return settlement(bench, taking)
    }
    await bench.store.transact(taking.lease, work, bench.context)
    await bench.store.settle([], [taking.batch], bench.context())
    assert.equal((await peer.get(ANN, written.alarm))!.timers.length, 1)
  },

  async 'work that fails leaves nothing behind, and its occurrence can still be settled'(bench) {
    const taking = await flying(bench)
    const failing = async (tx: unknown): Promise<Settlement> => {
      await bench.store.set([bench.request({ delay: '1h' })], bench.context(), tx)
      throw new Error('halfway')
    }
    await assert.rejects(bench.store.transact(taking.lease, failing, bench.context), /halfway/)
    assert.equal((await bench.store.stats(ANN)).total, 1)
    assert.deepEqual(await bench.settle(taking, 'failed'), { lost: [], stale: 0 })
    assert.deepEqual(await bench.types(taking.alarm.id), ['alarm.attempt_failed'])
  },

  async 'work under a lost lease is not even begun (fenced)'(bench) {
    const taking = await flying(bench)
    await bench.store.releaseLeases([taking.lease])
    await bench.own('two')
    const work = () => assert.fail('it was begun')
    const { lost } = await bench.store.transact(taking.lease, work, bench.context)
    assert.deepEqual(lost, [taking.lease])
  },

  async 'work whose occurrence has been settled meanwhile leaves nothing behind'(bench) {
    const taking = await flying(bench)
    await bench.settle(taking, 'delivered')
    const work = async (tx: unknown) => {
      await bench.store.set([bench.request({ delay: '1h' })], bench.context(), tx)
      return settlement(bench, taking)
    }
    assert.equal((await bench.store.transact(taking.lease, work, bench.context)).stale, 1)
    assert.equal((await bench.store.stats(ANN)).total, 1)
  },

  async 'other writes wait for the work and are not lost'(bench) {
    const taking = await flying(bench)
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const transacted = bench.store.transact(
      taking.lease,
      async () => {
        begun.resolve()
        await go.promise
        return settlement(bench, taking)
      },
      bench.context,
    )
    await begun.promise
    const sets = Promise.all(Array.from({ length: 5 }, () => bench.alarm({ delay: '1h' })))
    go.resolve()
    await Promise.all([transacted, sets])
    assert.equal((await bench.store.stats(ANN)).total, 6)
  },
})

async function flying(bench: Bench): Promise<ClaimedTimer> {
  bench.needTransact()
  const leases = await bench.own()
  await bench.alarm({ delay: '1s' })
  bench.clock.step(1000)
  return bench.takeOne(leases)
}

function settlement(bench: Bench, { lease, alarm, timer }: ClaimedTimer): Settlement {
  return { lease, alarm, timer, delivery: bench.delivery('delivered') }
}
