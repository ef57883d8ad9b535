import assert from 'node:assert/strict'
import { cancel, report, retry } from '../../alarm/index.ts'
import type { FailureQuery } from '../failures.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

/** Lists and counts of what failed or timed out. After each case, the invariants compare both. */
export const failureCases = casesOf('failures', {
  async 'an occurrence of a recurring alarm that fails is listed and counted, and the alarm goes on'(
    harness,
  ) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1m' }, { maxFailures: 1 })
    for (let i = 0; i < 3; i++) {
      harness.clock.step(60_000)
      await harness.settle(await harness.claimOne(leases), 'failed')
    }
    const items = await listed(harness)
    assert.equal(items.length, 3)
    assert.ok(items.every(({ id: of, kind }) => of === id && kind === 'failed'))
    assert.equal(new Set(items.map(({ occurrence }) => occurrence)).size, 3)
    // Newest first.
    assert.ok(items.every(({ seq }, i) => i === 0 || seq < items[i - 1]!.seq))
    const { total, pending, failed } = await harness.store.stats(ANN)
    assert.deepEqual({ total, pending, failed }, { total: 1, pending: 1, failed: 3 })
    await harness.edit(id, (found, context) => cancel(found, context).change)
    assert.equal((await listed(harness)).length, 3)
  },

  async 'a one-shot alarm is listed while it counts as failed, not after a retry'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1m' }, { maxFailures: 1, key: 'k' })
    harness.clock.step(60_000)
    await harness.settle(await harness.claimOne(leases), 'failed')
    assert.deepEqual(await kinds(harness), ['failed'])
    await harness.edit(id, retry)
    assert.deepEqual(await kinds(harness), [])
    await harness.settle(await harness.claimOne(leases), 'failed')
    assert.deepEqual(await kinds(harness), ['failed'])
    await harness.set({ delay: '1h' }, { key: 'k' })
    assert.deepEqual(await kinds(harness), [])
  },

  async 'a timeout is listed until a late report says otherwise'(harness) {
    const leases = await harness.heartbeat()
    for (const when of [{ every: '1h' }, { delay: '1h' }]) {
      for (const ok of [true, false]) {
        const id = await harness.alarm(when, { ack: 'report', completionTimeout: '1m' })
        harness.clock.step(3_600_000)
        await harness.settle(await harness.claimOne(leases), 'delivered')
        harness.clock.step(60_000)
        await harness.claim(leases)
        const before = await listed(harness)
        assert.deepEqual([before[0]!.id, before[0]!.kind], [id, 'timed_out'])
        await harness.edit(id, (found, context) => report(found, { ok, text: 'late' }, context))
        const after = await listed(harness)
        const rest = before.slice(1)
        assert.deepEqual(after, ok ? rest : [{ ...before[0], kind: 'failed' }, ...rest])
        await harness.cancel(id)
      }
    }
  },

  async 'a late report is credited to the occurrence that it names'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' }, { ack: 'report', completionTimeout: '5m' })
    for (let i = 0; i < 4; i++) {
      harness.clock.step(i === 0 ? 3_600_000 : 3_300_000)
      await harness.settle(await harness.claimOne(leases), 'delivered')
      harness.clock.step(300_000)
      await harness.claim(leases)
    }
    const reported = (occurrenceId: string, ok = true) =>
      harness.edit(
        id,
        (found, context) => report(found, { ok, text: 'late', occurrenceId }, context),
        ANN,
        occurrenceId,
      )
    const [fourth, third, second, first] = await listed(harness)
    const { outcome } = await harness.get(id)
    await reported(`${id}-${first!.occurrence}`)
    assert.deepEqual(await listed(harness), [fourth, third, second])
    await reported(`${id}-${third!.occurrence}`, false)
    assert.deepEqual(await listed(harness), [fourth, { ...third, kind: 'failed' }, second])
    // The summary is that of the newest occurrence.
    assert.deepEqual((await harness.get(id)).outcome, outcome)
    const { failed, timedOut } = await harness.store.stats(ANN)
    assert.deepEqual({ failed, timedOut }, { failed: 1, timedOut: 2 })
    for (const before of [first, third])
      await assert.rejects(reported(`${id}-${before!.occurrence}`), { code: 'conflict' })
    for (const never of [`${id}-2-1`, 'x']) await assert.rejects(reported(never), { code: 'not_found' })
    await reported(`${id}-${fourth!.occurrence}`)
    assert.equal((await harness.get(id)).outcome?.result, 'late')
    const late = (await harness.events(id)).filter(({ type }) => type === 'alarm.completed')
    assert.deepEqual(
      late.map(({ data }) => JSON.parse(data).occurrence_id),
      [first, fourth].map((each) => `${id}-${each!.occurrence}`),
    )
  },

  async 'an alarm whose target is gone, and one that was missed, count as failed'(harness) {
    const leases = await harness.heartbeat()
    const gone = await harness.alarm({ delay: '1m' }, { key: 'gone' })
    harness.clock.step(60_000)
    await harness.settle(await harness.claimOne(leases), 'gone')
    const missed = await harness.alarm({ delay: '1m', misfire: 'skip' })
    harness.clock.step(3_600_000)
    await harness.claim(leases)
    assert.deepEqual(
      (await listed(harness)).map(({ id }) => id),
      [missed, gone],
    )
    const { failed, cancelled } = await harness.store.stats(ANN)
    assert.deepEqual({ failed, cancelled }, { failed: 2, cancelled: 0 })
    await harness.set({ delay: '1h' }, { key: 'gone' })
    assert.equal((await harness.store.stats(ANN)).failed, 1)
    const recurring = await harness.alarm({ every: '2h' })
    harness.clock.step(7_200_000)
    const { timers } = await harness.claim(leases)
    await harness.settle(
      timers.filter(({ alarm }) => alarm.id === recurring),
      'gone',
    )
    await harness.settle(
      timers.filter(({ alarm }) => alarm.id !== recurring),
      'delivered',
    )
    assert.equal((await listed(harness))[0]!.id, recurring)
  },

  async 'filters by kind, target and time, and continues where a page ended'(harness) {
    const leases = await harness.heartbeat()
    await harness.alarm({ every: '1m' }, { maxFailures: 1, target: 'a' })
    await harness.alarm({ every: '1m' }, { maxFailures: 1, target: 'b' })
    const start = harness.now
    for (let i = 0; i < 5; i++) {
      harness.clock.step(60_000)
      await harness.settle((await harness.claim(leases)).timers, 'failed')
    }
    const all = await listed(harness)
    assert.equal(all.length, 10)
    assert.equal((await listed(harness, { target: 'a' })).length, 5)
    assert.equal((await listed(harness, { kinds: ['timed_out'] })).length, 0)
    assert.equal((await listed(harness, { since: start + 240_000 })).length, 4)
    const pages = []
    for (let after: FailureQuery['after'] | null; after !== null; ) {
      const page = await harness.store.failures(ANN, { limit: 3, after })
      pages.push(page.items.map(({ record }) => record.seq))
      after = page.next
    }
    assert.deepEqual(
      pages.flat(),
      all.map(({ seq }) => seq),
    )
    assert.ok(pages.every((page) => page.length <= 3))
  },

  async 'reads those of an owner, of a tenant or of all (isolated)'(harness) {
    const leases = await harness.heartbeat()
    for (const scope of [ANN, ...OTHERS]) await harness.alarm({ delay: '1m' }, { maxFailures: 1 }, scope)
    harness.clock.step(60_000)
    await harness.settle((await harness.claim(leases)).timers, 'failed')
    const count = async (scope: Parameters<Harness['store']['failures']>[0]) =>
      (await harness.store.failures(scope, { limit: 10 })).items.length
    for (const scope of [ANN, ...OTHERS]) assert.equal(await count(scope), 1)
    assert.equal(await count({ tenant: ANN.tenant, owner: null }), 2)
    assert.equal(await count({ tenant: null, owner: null }), 3)
    assert.equal(await count({ tenant: 'nobody', owner: null }), 0)
  },
})

async function listed(harness: Harness, query: Partial<FailureQuery> = {}) {
  const { items } = await harness.store.failures(ANN, { limit: 100, ...query })
  return items.map(({ record, snapshot }) => {
    const { seq, failure: kind, occurrence } = record
    return { id: snapshot.alarm.id, seq, kind, occurrence }
  })
}

async function kinds(harness: Harness) {
  return (await listed(harness)).map(({ kind }) => kind)
}
