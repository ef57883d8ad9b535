import assert from 'node:assert/strict'
import { amend, occurrenceId, report, type Serial } from '../../alarm/index.ts'
import type { ClaimedTimer } from '../store.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, OTHERS } from './harness.ts'

/** From the claim to the record: what is claimed, when, and what its settle writes. */
export const deliveryCases = casesOf('delivery', {
  async 'claims nothing before its instant, and returns the next wake (never-early)'(harness) {
    const leases = await harness.heartbeat()
    await harness.alarm({ delay: '2s' })
    await harness.alarm({ delay: '1s' })
    harness.clock.step(999)
    const early = await harness.claim(leases)
    assert.deepEqual([early.timers.length, early.nextWakeAt], [0, harness.now + 1])
    harness.clock.step(1)
    const due = await harness.claim(leases)
    assert.deepEqual([due.timers.length, due.nextWakeAt], [1, harness.now + 1000])
  },

  async 'claims the most overdue first, up to the limit, and reports that more is due'(harness) {
    const leases = await harness.heartbeat()
    for (const label of ['3', '1', '2']) await harness.alarm({ delay: `${label}s` }, { label })
    harness.clock.step(3000)
    const first = await harness.claim(leases, { limit: 2 })
    assert.deepEqual([labels(first.timers), first.more], [['1', '2'], true])
    const inFlight = { size: 2, has: (id: number) => first.timers.some(({ timer }) => timer.id === id) }
    const second = await harness.claim(leases, { limit: 2, inFlight })
    assert.deepEqual([labels(second.timers), second.more], [['3'], false])
  },

  async 'skips timers that this process has in flight'(harness) {
    const leases = await harness.heartbeat()
    await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const { timer } = await harness.claimOne(leases)
    const inFlight = {
      size: 1,
      has: (id: number, version: number) => id === timer.id && version === timer.version,
    }
    const again = await harness.claim(leases, { inFlight })
    assert.deepEqual([again.timers, again.nextWakeAt], [[], null])
    assert.equal(await harness.store.nextWakeAt(leases, inFlight), null)
  },

  async 'orders timers that are due together by priority'(harness) {
    const leases = await harness.heartbeat()
    for (const priority of [0, -5, 100])
      await harness.alarm({ delay: '1s' }, { priority, label: `${priority}` })
    harness.clock.step(1000)
    assert.deepEqual(labels((await harness.claim(leases)).timers), ['100', '0', '-5'])
  },

  async 'records an occurrence once, however often its outcome is sent (recorded-once)'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    assert.deepEqual(await harness.settle(claimed, 'delivered'), { lost: [], stale: 0 })
    assert.deepEqual(await harness.settle(claimed, 'delivered'), { lost: [], stale: 1 })
    assert.deepEqual(await harness.settle(claimed, 'failed'), { lost: [], stale: 1 })
    assert.deepEqual(await harness.types(id), ['alarm.fired'])
  },

  async 'an outcome that is in one settle twice counts once (recorded-once)'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    assert.deepEqual(await harness.settle([claimed, claimed], 'delivered'), { lost: [], stale: 1 })
    assert.deepEqual(await harness.types(id), ['alarm.fired'])
  },

  async 'an outcome sent again together with that of the next attempt does not affect it (recorded-once)'(
    harness,
  ) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    const first = await harness.claimOne(leases)
    await harness.settle(first, 'failed')
    harness.clock.step(60_000)
    const second = await harness.claimOne(leases)
    const settlements = [
      { ...first, delivery: harness.delivery('failed') },
      { ...second, delivery: harness.delivery('delivered') },
    ]
    const settled = await harness.store.settle(settlements, [second.batch], harness.context())
    assert.deepEqual(settled, { lost: [], stale: 1 })
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.fired'])
    assert.equal(await harness.state(id), 'fired')
  },

  async 'a settle that is sent again skips no occurrence of a recurring alarm'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' })
    harness.clock.step(3_600_000)
    const claimed = await harness.claimOne(leases)
    for (const stale of [0, 1, 1]) assert.equal((await harness.settle(claimed, 'delivered')).stale, stale)
    harness.clock.step(3_600_000)
    const next = await harness.claimOne(leases)
    assert.equal(next.timer.scheduledFor - claimed.timer.scheduledFor, 3_600_000)
    assert.deepEqual(await harness.types(id), ['alarm.fired'])
  },

  async 'a recurring alarm continues from its rule, not from when it ran (calendar-true)'(harness) {
    const leases = await harness.heartbeat()
    const start = harness.now
    await harness.alarm({ every: '10m' })
    for (const minute of [10, 20, 30]) {
      harness.clock.step(start + minute * 60_000 + 7_777 - harness.now)
      const claimed = await harness.claimOne(leases)
      assert.equal(claimed.timer.scheduledFor, start + minute * 60_000)
      await harness.settle(claimed, 'delivered')
    }
  },

  async 'an upsert during a delivery survives the settle, and fires at its own time'(harness) {
    for (const when of [{ delay: '1s' }, { every: '1h' }]) {
      const leases = await harness.heartbeat()
      const key = JSON.stringify(when)
      const id = await harness.alarm(when, { key })
      harness.clock.step(3_600_000)
      const claimed = await harness.claimOne(leases)
      const { outcome } = await harness.set({ delay: '5m' }, { key })
      assert.equal(outcome, 'replaced')
      assert.deepEqual(await harness.settle(claimed, 'delivered'), { lost: [], stale: 0 })
      assert.equal(await harness.state(id), 'active')
      harness.clock.step(300_000)
      const next = await harness.claimOne(leases)
      assert.notEqual(occurrenceId(next.alarm, next.timer), occurrenceId(claimed.alarm, claimed.timer))
      await harness.settle(next, 'delivered')
      assert.deepEqual(await harness.types(id), ['alarm.rescheduled', 'alarm.fired', 'alarm.fired'])
      assert.equal(await harness.state(id), 'fired')
    }
  },

  async 'a delivery that fails after its alarm was rescheduled is not retried'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { key: 'k' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    await harness.set({ delay: '5m' }, { key: 'k' })
    await harness.settle(claimed, 'failed')
    assert.deepEqual(await harness.types(id), ['alarm.rescheduled', 'alarm.failed'])
    const { timers, outcome } = await harness.get(id)
    assert.deepEqual([timers.length, timers[0]!.attempt, outcome], [1, 0, null])
  },

  async 'a retry keeps the occurrence’s id and counts its attempts'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { maxFailures: 3, backoff: { baseMs: 1000 } })
    harness.clock.step(1000)
    const ids = new Set<string>()
    for (const [attempt, wait] of [1000, 2000, 0].entries()) {
      const { alarm, timer, ...claimed } = await harness.claimOne(leases)
      assert.equal(timer.attempt, attempt)
      ids.add(occurrenceId(alarm, timer))
      await harness.settle({ alarm, timer, ...claimed }, 'failed')
      if (wait > 0) assert.equal((await harness.claim(leases)).nextWakeAt, harness.now + wait)
      harness.clock.step(wait)
    }
    assert.equal(ids.size, 1)
    assert.deepEqual(await harness.types(id), [
      'alarm.attempt_failed',
      'alarm.attempt_failed',
      'alarm.failed',
    ])
    assert.equal((await harness.get(id)).outcome!.attempts, 3)
  },

  async 'a released timer is due again at once and has used no attempt'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    await harness.settle(await harness.claimOne(leases), 'released')
    const again = await harness.claimOne(leases)
    assert.equal(again.timer.attempt, 0)
    await harness.settle(again, 'delivered')
    assert.deepEqual(await harness.types(id), ['alarm.fired'])
  },

  async 'a retry of a recurring alarm waits beside its next occurrence'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' }, { backoff: { baseMs: 7_200_000 } })
    harness.clock.step(3_600_000)
    await harness.settle(await harness.claimOne(leases), 'failed')
    const { timers } = await harness.get(id)
    assert.deepEqual(timers.map(({ kind }) => kind).sort(), ['due', 'retry'])
    harness.clock.step(3_600_000)
    await harness.settle(await harness.claimOne(leases), 'delivered')
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'the claim settles event targets: once and recurring alarms each with their own record'(harness) {
    const leases = await harness.heartbeat()
    const once = await harness.alarm({ delay: '1h' }, { target: { event: true } })
    const recurring = await harness.alarm({ every: '1h' }, { target: { event: true } })
    harness.clock.step(3_600_000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    assert.deepEqual(await harness.types(once), ['timer.due_time_reached'])
    assert.deepEqual(await harness.types(recurring), ['schedule.ticked'])
    assert.deepEqual([await harness.state(once), await harness.state(recurring)], ['fired', 'active'])
  },

  async 'missed occurrences are one record with their count, and the newest fires (at-least-once)'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '10m' })
    harness.clock.step(65 * 60_000)
    const claimed = await harness.claimOne(leases)
    assert.equal(claimed.timer.scheduledFor, harness.now - 5 * 60_000)
    await harness.settle(claimed, 'delivered')
    const [skipped, fired] = await harness.events(id)
    const { reason, count } = JSON.parse(skipped!.data)
    assert.deepEqual(
      [skipped!.type, reason, count, fired!.type],
      ['alarm.skipped', 'misfire', 5, 'alarm.fired'],
    )
  },

  async 'while an occurrence is open, the next one is skipped, queued or allowed, by its overlap policy'(
    harness,
  ) {
    const leases = await harness.heartbeat()
    const seen: Record<string, unknown> = {}
    for (const overlap of ['skip', 'queue', 'allow'] as const) {
      const id = await harness.alarm(
        { every: '1h' },
        { overlap, ack: 'report', completionTimeout: '3h', label: overlap },
      )
      harness.clock.step(3_600_000)
      await harness.settle(await harness.claimOne(leases), 'delivered')
      harness.clock.step(3_600_000)
      const { timers: claimed } = await harness.claim(leases)
      await harness.settle(claimed, 'delivered')
      await harness.edit(id, (found, context) => report(found, { ok: true, text: 'done' }, context))
      const after = await harness.claim(leases)
      await harness.settle(after.timers, 'delivered')
      seen[overlap] = [
        claimed.length,
        after.timers.length,
        (await harness.types(id)).includes('alarm.skipped'),
      ]
      await harness.cancel(id)
    }
    assert.deepEqual(seen, { skip: [0, 0, true], queue: [0, 1, false], allow: [1, 0, false] })
  },

  async 'a queued occurrence fires however the open one ends'(harness) {
    const leases = await harness.heartbeat()
    const options = { overlap: 'queue', ack: 'report', completionTimeout: '90m', maxFailures: 1 } as const
    const ways: Record<string, (id: string) => Promise<unknown>> = {
      reported: (id) =>
        harness.edit(id, (found, context) => report(found, { ok: true, text: 'done' }, context)),
      failed: (id) => harness.edit(id, (found, context) => report(found, { ok: false, text: 'no' }, context)),
      overdue: async () => harness.clock.step(1_800_000),
      edited: (id) => harness.edit(id, (found, context) => amend(found, { overlap: 'allow' }, context)),
    }
    for (const [way, end] of Object.entries(ways)) {
      const id = await harness.alarm({ every: '1h' }, options)
      harness.clock.step(3_600_000)
      const first = await harness.claimOne(leases)
      await harness.settle(first, 'delivered')
      harness.clock.step(3_600_000)
      assert.deepEqual((await harness.claim(leases)).timers, [], 'the second one is queued')
      await end(id)
      // The first claim may only end the open occurrence, so that the second one finds the queued one.
      const claimed = [...(await harness.claim(leases)).timers, ...(await harness.claim(leases)).timers]
      const [second] = claimed
      assert.equal(second?.timer.scheduledFor, first.timer.scheduledFor + 3_600_000, way)
      await harness.settle(second!, 'delivered')
      await harness.cancel(id)
    }
  },

  async 'a report that arrives before the settle decides the outcome'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { ack: 'report' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    await harness.edit(id, (found, context) => report(found, { ok: true, text: 'early' }, context))
    await harness.settle(claimed, 'delivered')
    assert.deepEqual(
      [await harness.state(id), (await harness.get(id)).outcome!.result],
      ['completed', 'early'],
    )
  },

  async 'an alarm that runs out of attempts creates an alarm for its dead-letter target'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { maxFailures: 1, onFailure: 'bury', payload: { a: 1 } })
    harness.clock.step(1000)
    await harness.settle(await harness.claimOne(leases), 'failed')
    assert.deepEqual(await harness.types(id), ['alarm.failed', 'alarm.dead_lettered'])
    const letter = await harness.claimOne(leases)
    assert.deepEqual([letter.alarm.target.name, letter.alarm.payload], ['bury', '{"a":1}'])
    await harness.settle(letter, 'delivered')
    assert.equal((await harness.store.stats(ANN)).total, 2)
  },

  async 'a timer without a handler waits without using attempts, and is requeued when its handler is registered'(
    harness,
  ) {
    const leases = await harness.heartbeat()
    harness.canRun = ({ name }) => name !== 'unknown'
    const id = await harness.alarm({ delay: '1s' }, { target: 'unknown' })
    await harness.alarm({ delay: '1s' }, { target: 'other' })
    harness.clock.step(1000)
    const claimed = await harness.claimOne(leases)
    assert.equal(claimed.alarm.target.name, 'other')
    await harness.settle(claimed, 'delivered')
    assert.equal((await harness.get(id)).timers[0]!.waiting, 'handler')
    assert.deepEqual((await harness.claim(leases)).timers, [])
    const due = (await harness.get(id)).timers[0]!.scheduledFor
    const missing = (dueBy: number, limit = 10) => harness.store.missingHandlers(dueBy, limit)
    assert.deepEqual(await missing(due), [{ pool: 'app', handler: 'unknown', since: due }])
    assert.deepEqual([await missing(due - 1), await missing(due, 0)], [[], []])
    const requeue = (handler: string, from = leases) =>
      harness.store.requeueWaiting(from, { handler }, harness.now, 10)
    assert.deepEqual([await requeue('other'), await requeue('unknown', [])], [0, 0])
    harness.canRun = () => true
    assert.deepEqual([await requeue('unknown'), await requeue('unknown')], [1, 0])
    assert.deepEqual(await missing(due), [], 'its handler is registered now')
    const waited = await harness.claimOne(leases)
    assert.deepEqual([waited.alarm.id, waited.timer.attempt], [id, 0])
    await harness.settle(waited, 'delivered')
    assert.deepEqual(await harness.types(id), ['alarm.fired'])
  },

  async 'skips tenants over their limit, however much they have due'(harness) {
    const leases = await harness.heartbeat()
    const [bob, zeta] = OTHERS
    for (let i = 0; i < 30; i++) await harness.alarm({ delay: '1s' }, {}, i % 2 === 0 ? ANN : bob!)
    const waiting = await harness.alarm({ delay: '2s' }, {}, zeta!)
    const later = await harness.alarm({ delay: '10s' }, {}, zeta!)
    harness.clock.step(3000)
    const skipTenants = new Set(['acme'])
    const claimed = await harness.claim(leases, { limit: 5, skipTenants })
    assert.deepEqual(
      claimed.timers.map(({ alarm }) => alarm.id),
      [waiting],
    )
    assert.equal(claimed.nextWakeAt, (await harness.get(later, zeta!)).timers[0]!.wakeAt)
    await harness.settle(claimed.timers, 'delivered')
    assert.deepEqual((await harness.claim(leases, { limit: 5, skipTenants })).timers, [])
    assert.equal((await harness.claim(leases, { limit: 100 })).timers.length, 30)
  },

  async 'reaches every tenant beside one with a backlog, however many are waiting'(harness) {
    const leases = await harness.heartbeat()
    for (let i = 100; i < 170; i++)
      await harness.alarm({ delay: '1h' }, {}, { tenant: `tenant${i}`, owner: '' })
    const last = await harness.alarm({ delay: '1s' }, {}, { tenant: 'zebra', owner: '' })
    harness.clock.step(2000)
    const ids: string[] = []
    for (let claims = 0; claims < 5 && ids.length === 0; claims++) {
      const { timers: claimed } = await harness.claim(leases, { skipTenants: new Set(['acme']) })
      ids.push(...claimed.map(({ alarm }) => alarm.id))
    }
    assert.deepEqual(ids, [last])
  },

  async 'skips what other tenants have in flight while one tenant is skipped'(harness) {
    const leases = await harness.heartbeat()
    const [, zeta] = OTHERS
    for (let i = 0; i < 20; i++) await harness.alarm({ delay: '1s' }, {}, zeta!)
    harness.clock.step(2000)
    const skipTenants = new Set(['acme'])
    const inFlight = new Map<Serial, number>()
    while (inFlight.size < 20) {
      const { timers: claimed } = await harness.claim(leases, {
        limit: 6,
        skipTenants,
        inFlight: { size: inFlight.size, has: (id, version) => inFlight.get(id) === version },
      })
      assert.equal(claimed.length, Math.min(6, 20 - inFlight.size))
      for (const { timer } of claimed) inFlight.set(timer.id, timer.version)
    }
  },
})

function labels(claimed: readonly ClaimedTimer[]): string[] {
  return claimed.map(({ alarm }) => alarm.label)
}
