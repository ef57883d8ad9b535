import assert from 'node:assert/strict'
import type { Scope } from '../../alarm/index.ts'
import { PAGE_BYTES_MAX } from '../page-size.ts'
import { ANN, type Bench, OTHERS } from './bench.ts'
import { casesOf } from './conformance-case.ts'

const HOLD_MS = 30_000
const DAY_MS = 86_400_000

/** Wakes that lie ready for agents without a URL, and what a tenant has pending. */
export const inboxCases = casesOf('inbox', {
  async 'gives the oldest first, byte for byte, and holds what it gave'(bench) {
    await put(bench, 'one')
    bench.clock.step(1)
    await put(bench, 'two')
    await put(bench, 'three')
    const [first] = await bench.store.takeWakes(ANN, request(bench, 1))
    assert.deepEqual(first, {
      ...ANN,
      occurrenceId: 'one',
      alarmId: 'alarm-one',
      arrivedAt: bench.now - 1,
      body: '{"n":9007199254740993}',
      tries: 1,
    })
    assert.deepEqual(await taken(bench), ['two', 'three'])
    assert.deepEqual(await taken(bench), [])
  },

  async 'gives no more at once than so much content, and holds only that'(bench) {
    const body = JSON.stringify('x'.repeat(200_000))
    for (let n = 0; n < 30; n++) await put(bench, `${n}`, ANN, { body })
    const take = () => bench.store.takeWakes(ANN, request(bench, 100))
    const first = await take()
    assert.equal(first.length, Math.ceil(PAGE_BYTES_MAX / body.length))
    const all = [...first, ...(await take())]
    assert.equal(new Set(all.map(({ occurrenceId }) => occurrenceId)).size, 30)
  },

  async 'gives a wake again when the hold has ended, and counts the tries'(bench) {
    await put(bench, 'one')
    await bench.store.takeWakes(ANN, request(bench))
    bench.clock.step(HOLD_MS - 1)
    assert.deepEqual(await taken(bench), [])
    bench.clock.step(1)
    const [again] = await bench.store.takeWakes(ANN, request(bench))
    assert.deepEqual([again!.occurrenceId, again!.tries], ['one', 2])
  },

  async 'keeps a wake that is put again as it is'(bench) {
    await put(bench, 'one')
    await bench.store.takeWakes(ANN, request(bench))
    await put(bench, 'one', ANN, { body: '"other"' })
    assert.deepEqual(await taken(bench), [], 'it is still held')
    const removed = await bench.store.removeWake(ANN, 'one')
    assert.deepEqual([removed!.body, removed!.tries], ['{"n":9007199254740993}', 1])
  },

  async 'forgets what was acknowledged'(bench) {
    await put(bench, 'one')
    assert.equal((await bench.store.removeWake(ANN, 'one'))!.alarmId, 'alarm-one')
    assert.equal(await bench.store.removeWake(ANN, 'one'), null)
    assert.deepEqual(await taken(bench), [])
    await put(bench, 'one')
    assert.deepEqual(await taken(bench), ['one'])
  },

  async 'lets only what was handed out be acknowledged, where that is asked'(bench) {
    await put(bench, 'one')
    assert.equal(await bench.store.removeWake(ANN, 'one', 1), null)
    assert.deepEqual(await taken(bench), ['one'])
    assert.equal((await bench.store.removeWake(ANN, 'one', 1))!.tries, 1)
  },

  async 'lets nobody acknowledge what was handed out again since, where that is asked'(bench) {
    await put(bench, 'one')
    const first = await bench.store.takeWakes(ANN, request(bench))
    bench.clock.step(HOLD_MS)
    const second = await bench.store.takeWakes(ANN, request(bench))
    assert.deepEqual([first[0]!.tries, second[0]!.tries], [1, 2])
    assert.equal(await bench.store.removeWake(ANN, 'one', 1, 1), null)
    assert.equal(await bench.store.removeWake(ANN, 'one', 3, 3), null)
    assert.equal((await bench.store.removeWake(ANN, 'one', 2, 2))!.tries, 2)
  },

  async 'shows nobody else’s (isolated)'(bench) {
    await put(bench, 'one')
    for (const other of OTHERS) {
      assert.deepEqual(await taken(bench, other), [])
      assert.equal(await bench.store.removeWake(other, 'one'), null)
      await put(bench, 'one', other, { body: '"theirs"' })
    }
    const [own] = await bench.store.takeWakes(ANN, request(bench))
    assert.equal(own!.body, '{"n":9007199254740993}')
    for (const other of OTHERS) {
      const [theirs] = await bench.store.takeWakes(other, request(bench))
      assert.deepEqual([theirs!.tenant, theirs!.owner, theirs!.body], [other.tenant, other.owner, '"theirs"'])
    }
  },

  async 'refuses more than so many per owner, and no other’s for it'(bench) {
    const put2 = (name: string, scope: Scope = ANN) => put(bench, name, scope, { max: 2 })
    await put2('one')
    await put2('two')
    await assert.rejects(put2('three'), { code: 'quota_exceeded' })
    await put2('two')
    for (const other of OTHERS) await put2('three', other)
    await bench.store.removeWake(ANN, 'one')
    await put2('three')
    assert.deepEqual((await taken(bench)).sort(), ['three', 'two'])
  },

  async 'gives a wake to one of those who ask at the same moment'(bench) {
    const names = ['one', 'two', 'three', 'four']
    for (const name of names) await put(bench, name)
    const both = await Promise.all([1, 2, 3].map(() => bench.store.takeWakes(ANN, request(bench, 2))))
    const all = both.flat().map(({ occurrenceId }) => occurrenceId)
    assert.equal(new Set(all).size, all.length, 'none is given twice')
  },

  async 'gives other processes what one has put'(bench) {
    const peer = await bench.peer()
    await put(bench, 'one')
    const [wake] = await peer.takeWakes(ANN, request(bench))
    assert.equal(wake!.occurrenceId, 'one')
    assert.deepEqual(await taken(bench), [])
    assert.notEqual(await peer.removeWake(ANN, 'one'), null)
  },

  async 'is pruned of what nobody fetched, a bounded number at a time'(bench) {
    for (const name of ['one', 'two', 'three']) await put(bench, name)
    bench.clock.step(DAY_MS)
    await put(bench, 'new')
    assert.equal(await bench.store.prune(bench.now, 2), 2)
    assert.equal(await bench.store.prune(bench.now, 2), 1)
    assert.equal(await bench.store.prune(bench.now, 2), 0)
    assert.deepEqual(await taken(bench), ['new'])
  },

  async 'all that lies in inboxes is counted, as far as one asks'(bench) {
    for (const name of ['one', 'two', 'three']) await put(bench, name)
    assert.deepEqual([await bench.store.countInboxWakes(10), await bench.store.countInboxWakes(2)], [3, 2])
    await bench.store.removeWake(ANN, 'one')
    assert.equal(await bench.store.countInboxWakes(10), 2)
  },

  async 'what a tenant has pending is counted over all its owners'(bench) {
    const [bob, zeta] = OTHERS
    assert.equal(await bench.store.countPending('acme'), 0)
    await bench.alarm({ delay: '1h' })
    const id = await bench.alarm({ every: '1h' })
    await bench.alarm({ delay: '1h' }, {}, bob!)
    await bench.alarm({ delay: '1h' }, {}, zeta!)
    assert.equal(await bench.store.countPending('acme'), 3)
    await bench.cancel(id)
    assert.equal(await bench.store.countPending('acme'), 2)
    assert.equal(await bench.store.countPending('zeta'), 1)
  },
})

function put(
  bench: Bench,
  name: string,
  scope: Scope = ANN,
  { body = '{"n":9007199254740993}', max = 100 } = {},
) {
  const { tenant, owner } = scope
  const wake = { tenant, owner, occurrenceId: name, alarmId: `alarm-${name}`, arrivedAt: bench.now, body }
  return bench.store.putWake(wake, max)
}

function request(bench: Bench, limit = 10) {
  return { now: bench.now, holdMs: HOLD_MS, limit }
}

async function taken(bench: Bench, scope: Scope = ANN): Promise<string[]> {
  return (await bench.store.takeWakes(scope, request(bench))).map(({ occurrenceId }) => occurrenceId)
}
