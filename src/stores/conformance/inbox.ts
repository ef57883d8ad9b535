import assert from 'node:assert/strict'
import type { Scope } from '../../alarm/index.ts'
import { PAGE_BYTES_MAX } from '../page-size.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

const HOLD_MS = 30_000
const DAY_MS = 86_400_000

/** Wakes that lie ready for agents without a URL, and what a tenant has pending. */
export const inboxCases = casesOf('inbox', {
  async 'hands out the oldest first, byte for byte, and not again at once'(harness) {
    await put(harness, 'one')
    harness.clock.step(1)
    await put(harness, 'two')
    await put(harness, 'three')
    const [first] = await harness.store.claimWakes(ANN, request(harness, 1))
    assert.deepEqual(first, {
      ...ANN,
      occurrenceId: 'one',
      alarmId: 'alarm-one',
      arrivedAt: harness.now - 1,
      body: '{"n":9007199254740993}',
      tries: 1,
    })
    assert.deepEqual(await claimedIds(harness), ['two', 'three'])
    assert.deepEqual(await claimedIds(harness), [])
  },

  async 'hands out a bounded amount of content at once, and claims only that'(harness) {
    const body = JSON.stringify('x'.repeat(200_000))
    for (let n = 0; n < 30; n++) await put(harness, `${n}`, ANN, { body })
    const take = () => harness.store.claimWakes(ANN, request(harness, 100))
    const first = await take()
    assert.equal(first.length, Math.ceil(PAGE_BYTES_MAX / body.length))
    const all = [...first, ...(await take())]
    assert.equal(new Set(all.map(({ occurrenceId }) => occurrenceId)).size, 30)
  },

  async 'hands out a wake again when its hold has ended, and counts how often'(harness) {
    await put(harness, 'one')
    await harness.store.claimWakes(ANN, request(harness))
    harness.clock.step(HOLD_MS - 1)
    assert.deepEqual(await claimedIds(harness), [])
    harness.clock.step(1)
    const [again] = await harness.store.claimWakes(ANN, request(harness))
    assert.deepEqual([again!.occurrenceId, again!.tries], ['one', 2])
  },

  async 'leaves a wake unchanged when it is put again'(harness) {
    await put(harness, 'one')
    await harness.store.claimWakes(ANN, request(harness))
    await put(harness, 'one', ANN, { body: '"other"' })
    assert.deepEqual(await claimedIds(harness), [], 'it was handed out already')
    const removed = await harness.store.removeWake(ANN, 'one')
    assert.deepEqual([removed!.body, removed!.tries], ['{"n":9007199254740993}', 1])
  },

  async 'removes what was acknowledged'(harness) {
    await put(harness, 'one')
    assert.equal((await harness.store.removeWake(ANN, 'one'))!.alarmId, 'alarm-one')
    assert.equal(await harness.store.removeWake(ANN, 'one'), null)
    assert.deepEqual(await claimedIds(harness), [])
    await put(harness, 'one')
    assert.deepEqual(await claimedIds(harness), ['one'])
  },

  async 'acknowledges only what was handed out, if asked to'(harness) {
    await put(harness, 'one')
    assert.equal(await harness.store.removeWake(ANN, 'one', 1), null)
    assert.deepEqual(await claimedIds(harness), ['one'])
    assert.equal((await harness.store.removeWake(ANN, 'one', 1))!.tries, 1)
  },

  async 'refuses to acknowledge a wake that was handed out again since, if asked to'(harness) {
    await put(harness, 'one')
    const first = await harness.store.claimWakes(ANN, request(harness))
    harness.clock.step(HOLD_MS)
    const second = await harness.store.claimWakes(ANN, request(harness))
    assert.deepEqual([first[0]!.tries, second[0]!.tries], [1, 2])
    assert.equal(await harness.store.removeWake(ANN, 'one', 1, 1), null)
    assert.equal(await harness.store.removeWake(ANN, 'one', 3, 3), null)
    assert.equal((await harness.store.removeWake(ANN, 'one', 2, 2))!.tries, 2)
  },

  async 'hands out only the owner’s own wakes (isolated)'(harness) {
    await put(harness, 'one')
    for (const other of OTHERS) {
      assert.deepEqual(await claimedIds(harness, other), [])
      assert.equal(await harness.store.removeWake(other, 'one'), null)
      await put(harness, 'one', other, { body: '"theirs"' })
    }
    const [own] = await harness.store.claimWakes(ANN, request(harness))
    assert.equal(own!.body, '{"n":9007199254740993}')
    for (const other of OTHERS) {
      const [theirs] = await harness.store.claimWakes(other, request(harness))
      assert.deepEqual([theirs!.tenant, theirs!.owner, theirs!.body], [other.tenant, other.owner, '"theirs"'])
    }
  },

  async 'refuses wakes over an owner’s limit, and affects no other owner'(harness) {
    const put2 = (name: string, scope: Scope = ANN) => put(harness, name, scope, { max: 2 })
    await put2('one')
    await put2('two')
    await assert.rejects(put2('three'), { code: 'quota_exceeded' })
    await put2('two')
    for (const other of OTHERS) await put2('three', other)
    await harness.store.removeWake(ANN, 'one')
    await put2('three')
    assert.deepEqual((await claimedIds(harness)).sort(), ['three', 'two'])
  },

  async 'hands out a wake to one of several concurrent callers'(harness) {
    const names = ['one', 'two', 'three', 'four']
    for (const name of names) await put(harness, name)
    const both = await Promise.all([1, 2, 3].map(() => harness.store.claimWakes(ANN, request(harness, 2))))
    const all = both.flat().map(({ occurrenceId }) => occurrenceId)
    assert.equal(new Set(all).size, all.length, 'none appears twice')
  },

  async 'hands out to other processes what one has put'(harness) {
    const peer = await harness.peer()
    await put(harness, 'one')
    const [wake] = await peer.claimWakes(ANN, request(harness))
    assert.equal(wake!.occurrenceId, 'one')
    assert.deepEqual(await claimedIds(harness), [])
    assert.notEqual(await peer.removeWake(ANN, 'one'), null)
  },

  async 'is pruned of wakes that were not fetched, a bounded number at a time'(harness) {
    for (const name of ['one', 'two', 'three']) await put(harness, name)
    harness.clock.step(DAY_MS)
    await put(harness, 'new')
    assert.deepEqual(await harness.store.prune(harness.now, 2), {
      alarms: 0,
      events: 0,
      wakes: 2,
      more: true,
    })
    assert.deepEqual(await harness.store.prune(harness.now, 2), {
      alarms: 0,
      events: 0,
      wakes: 1,
      more: false,
    })
    assert.deepEqual(await harness.store.prune(harness.now, 2), {
      alarms: 0,
      events: 0,
      wakes: 0,
      more: false,
    })
    assert.deepEqual(await claimedIds(harness), ['new'])
  },

  async 'counts the wakes of all inboxes, up to a limit'(harness) {
    for (const name of ['one', 'two', 'three']) await put(harness, name)
    assert.deepEqual(
      [await harness.store.countInboxWakes(10), await harness.store.countInboxWakes(2)],
      [3, 2],
    )
    await harness.store.removeWake(ANN, 'one')
    assert.equal(await harness.store.countInboxWakes(10), 2)
  },

  async 'counts what a tenant has pending over all its owners'(harness) {
    const [bob, zeta] = OTHERS
    assert.equal(await harness.store.countPending('acme'), 0)
    await harness.alarm({ delay: '1h' })
    const id = await harness.alarm({ every: '1h' })
    await harness.alarm({ delay: '1h' }, {}, bob!)
    await harness.alarm({ delay: '1h' }, {}, zeta!)
    assert.equal(await harness.store.countPending('acme'), 3)
    await harness.cancel(id)
    assert.equal(await harness.store.countPending('acme'), 2)
    assert.equal(await harness.store.countPending('zeta'), 1)
  },
})

function put(
  harness: Harness,
  name: string,
  scope: Scope = ANN,
  { body = '{"n":9007199254740993}', max = 100 } = {},
) {
  const { tenant, owner } = scope
  const wake = { tenant, owner, occurrenceId: name, alarmId: `alarm-${name}`, arrivedAt: harness.now, body }
  return harness.store.putWake(wake, max)
}

function request(harness: Harness, limit = 10) {
  return { now: harness.now, holdMs: HOLD_MS, limit }
}

async function claimedIds(harness: Harness, scope: Scope = ANN): Promise<string[]> {
  return (await harness.store.claimWakes(scope, request(harness))).map(({ occurrenceId }) => occurrenceId)
}
