import assert from 'node:assert/strict'
import { amend, occurrenceId, report, type Serial } from '../../alarm/index.ts'
import type { ClaimedTimer } from '../store.ts'
import { ANN, OTHERS } from './bench.ts'
import { casesOf } from './conformance-case.ts'

/** From the due look to the record: what is taken, when, and what its settle writes. */
export const deliveryCases = casesOf('delivery', {
  async 'takes nothing before its instant, and says when to look again (never-early)'(bench) {
    const leases = await bench.own()
    await bench.alarm({ delay: '2s' })
    await bench.alarm({ delay: '1s' })
    bench.clock.step(999)
    const early = await bench.take(leases)
    assert.deepEqual([early.timers.length, early.nextWakeAt], [0, bench.now + 1])
    bench.clock.step(1)
    const due = await bench.take(leases)
    assert.deepEqual([due.timers.length, due.nextWakeAt], [1, bench.now + 1000])
  },

  async 'takes the most overdue first, as many as asked, and says that there is more'(bench) {
    const leases = await bench.own()
    for (const label of ['3', '1', '2']) await bench.alarm({ delay: `${label}s` }, { label })
    bench.clock.step(3000)
    const first = await bench.take(leases, { limit: 2 })
    assert.deepEqual([labels(first.timers), first.more], [['1', '2'], true])
    const held = { size: 2, has: (id: number) => first.timers.some(({ timer }) => timer.id === id) }
    const second = await bench.take(leases, { limit: 2, held })
    assert.deepEqual([labels(second.timers), second.more], [['3'], false])
  },

  async 'passes over what this process holds already'(bench) {
    const leases = await bench.own()
    await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const { timer } = await bench.takeOne(leases)
    const held = {
      size: 1,
      has: (id: number, version: number) => id === timer.id && version === timer.version,
    }
    const again = await bench.take(leases, { held })
    assert.deepEqual([again.timers, again.nextWakeAt], [[], null])
    assert.equal(await bench.store.nextWakeAt(leases, held), null)
  },

  async 'orders what is due together by priority'(bench) {
    const leases = await bench.own()
    for (const priority of [0, -5, 100])
      await bench.alarm({ delay: '1s' }, { priority, label: `${priority}` })
    bench.clock.step(1000)
    assert.deepEqual(labels((await bench.take(leases)).timers), ['100', '0', '-5'])
  },

  async 'records an occurrence once, however often its outcome is sent (recorded-once)'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    assert.deepEqual(await bench.settle(taking, 'delivered'), { lost: [], stale: 0 })
    assert.deepEqual(await bench.settle(taking, 'delivered'), { lost: [], stale: 1 })
    assert.deepEqual(await bench.settle(taking, 'failed'), { lost: [], stale: 1 })
    assert.deepEqual(await bench.types(id), ['alarm.fired'])
  },

  async 'an outcome that comes twice in one settle counts once (recorded-once)'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    assert.deepEqual(await bench.settle([taking, taking], 'delivered'), { lost: [], stale: 1 })
    assert.deepEqual(await bench.types(id), ['alarm.fired'])
  },

  async 'an outcome sent again beside that of the next attempt takes nothing from it (recorded-once)'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const first = await bench.takeOne(leases)
    await bench.settle(first, 'failed')
    bench.clock.step(60_000)
    const second = await bench.takeOne(leases)
    const settlements = [
      { ...first, delivery: bench.delivery('failed') },
      { ...second, delivery: bench.delivery('delivered') },
    ]
    const settled = await bench.store.settle(settlements, [second.batch], bench.context())
    assert.deepEqual(settled, { lost: [], stale: 1 })
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.fired'])
    assert.equal(await bench.state(id), 'fired')
  },

  async 'a settle that is sent again skips no occurrence of a recurring alarm'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ every: '1h' })
    bench.clock.step(3_600_000)
    const taking = await bench.takeOne(leases)
    for (const stale of [0, 1, 1]) assert.equal((await bench.settle(taking, 'delivered')).stale, stale)
    bench.clock.step(3_600_000)
    const next = await bench.takeOne(leases)
    assert.equal(next.timer.scheduledFor - taking.timer.scheduledFor, 3_600_000)
    assert.deepEqual(await bench.types(id), ['alarm.fired'])
  },

  async 'a recurring alarm goes on from its rule, not from when it ran (calendar-true)'(bench) {
    const leases = await bench.own()
    const start = bench.now
    await bench.alarm({ every: '10m' })
    for (const minute of [10, 20, 30]) {
      bench.clock.step(start + minute * 60_000 + 7_777 - bench.now)
      const taking = await bench.takeOne(leases)
      assert.equal(taking.timer.scheduledFor, start + minute * 60_000)
      await bench.settle(taking, 'delivered')
    }
  },

  async 'an upsert during flight is not deleted by the settle, and fires at its own time'(bench) {
    for (const when of [{ delay: '1s' }, { every: '1h' }]) {
      const leases = await bench.own()
      const key = JSON.stringify(when)
      const id = await bench.alarm(when, { key })
      bench.clock.step(3_600_000)
      const taking = await bench.takeOne(leases)
      const { outcome } = await bench.set({ delay: '5m' }, { key })
      assert.equal(outcome, 'replaced')
      assert.deepEqual(await bench.settle(taking, 'delivered'), { lost: [], stale: 0 })
      assert.equal(await bench.state(id), 'active')
      bench.clock.step(300_000)
      const next = await bench.takeOne(leases)
      assert.notEqual(occurrenceId(next.alarm, next.timer), occurrenceId(taking.alarm, taking.timer))
      await bench.settle(next, 'delivered')
      assert.deepEqual(await bench.types(id), ['alarm.rescheduled', 'alarm.fired', 'alarm.fired'])
      assert.equal(await bench.state(id), 'fired')
    }
  },

  async 'a failure of what was rescheduled during flight is not tried again'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' }, { key: 'k' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    await bench.set({ delay: '5m' }, { key: 'k' })
    await bench.settle(taking, 'failed')
    assert.deepEqual(await bench.types(id), ['alarm.rescheduled', 'alarm.failed'])
    const { timers, outcome } = await bench.get(id)
    assert.deepEqual([timers.length, timers[0]!.attempt, outcome], [1, 0, null])
  },

  async 'a retry keeps the occurrence’s id and counts its attempts'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' }, { maxFailures: 3, backoff: { baseMs: 1000 } })
    bench.clock.step(1000)
    const ids = new Set<string>()
    for (const [attempt, wait] of [1000, 2000, 0].entries()) {
      const { alarm, timer, ...taking } = await bench.takeOne(leases)
      assert.equal(timer.attempt, attempt)
      ids.add(occurrenceId(alarm, timer))
      await bench.settle({ alarm, timer, ...taking }, 'failed')
      if (wait > 0) assert.equal((await bench.take(leases)).nextWakeAt, bench.now + wait)
      bench.clock.step(wait)
    }
    assert.equal(ids.size, 1)
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.attempt_failed', 'alarm.failed'])
    assert.equal((await bench.get(id)).outcome!.attempts, 3)
  },

  async 'what is given back is due again at once and has cost no attempt'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    await bench.settle(await bench.takeOne(leases), 'released')
    const again = await bench.takeOne(leases)
    assert.equal(again.timer.attempt, 0)
    await bench.settle(again, 'delivered')
    assert.deepEqual(await bench.types(id), ['alarm.fired'])
  },

  async 'a retry of a recurring alarm stands beside its next occurrence'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ every: '1h' }, { backoff: { baseMs: 7_200_000 } })
    bench.clock.step(3_600_000)
    await bench.settle(await bench.takeOne(leases), 'failed')
    const { timers } = await bench.get(id)
    assert.deepEqual(timers.map(({ kind }) => kind).sort(), ['due', 'retry'])
    bench.clock.step(3_600_000)
    await bench.settle(await bench.takeOne(leases), 'delivered')
    assert.deepEqual(await bench.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'a fire to the log is settled by the take: once and recurring each by its own record'(bench) {
    const leases = await bench.own()
    const once = await bench.alarm({ delay: '1h' }, { target: { event: true } })
    const recurring = await bench.alarm({ every: '1h' }, { target: { event: true } })
    bench.clock.step(3_600_000)
    assert.deepEqual((await bench.take(leases)).timers, [])
    assert.deepEqual(await bench.types(once), ['timer.due_time_reached'])
    assert.deepEqual(await bench.types(recurring), ['schedule.ticked'])
    assert.deepEqual([await bench.state(once), await bench.state(recurring)], ['fired', 'active'])
  },

  async 'misses are one record with their number, and the newest fires (at-least-once)'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ every: '10m' })
    bench.clock.step(65 * 60_000)
    const taking = await bench.takeOne(leases)
    assert.equal(taking.timer.scheduledFor, bench.now - 5 * 60_000)
    await bench.settle(taking, 'delivered')
    const [skipped, fired] = await bench.events(id)
    const { reason, count } = JSON.parse(skipped!.data)
    assert.deepEqual(
      [skipped!.type, reason, count, fired!.type],
      ['alarm.skipped', 'misfire', 5, 'alarm.fired'],
    )
  },

  async 'an open occurrence makes the next one skip, queue or go ahead, as asked'(bench) {
    const leases = await bench.own()
    const seen: Record<string, unknown> = {}
    for (const overlap of ['skip', 'queue', 'allow'] as const) {
      const id = await bench.alarm(
        { every: '1h' },
        { overlap, ack: 'report', completionTimeout: '3h', label: overlap },
      )
      bench.clock.step(3_600_000)
      await bench.settle(await bench.takeOne(leases), 'delivered')
      bench.clock.step(3_600_000)
      const { timers: takings } = await bench.take(leases)
      await bench.settle(takings, 'delivered')
      await bench.edit(id, (found, context) => report(found, { ok: true, text: 'done' }, context))
      const after = await bench.take(leases)
      await bench.settle(after.timers, 'delivered')
      seen[overlap] = [takings.length, after.timers.length, (await bench.types(id)).includes('alarm.skipped')]
      await bench.cancel(id)
    }
    assert.deepEqual(seen, { skip: [0, 0, true], queue: [0, 1, false], allow: [1, 0, false] })
  },

  async 'a queued occurrence goes ahead however the open one ends'(bench) {
    const leases = await bench.own()
    const options = { overlap: 'queue', ack: 'report', completionTimeout: '90m', maxFailures: 1 } as const
    const ways: Record<string, (id: string) => Promise<unknown>> = {
      reported: (id) =>
        bench.edit(id, (found, context) => report(found, { ok: true, text: 'done' }, context)),
      failed: (id) => bench.edit(id, (found, context) => report(found, { ok: false, text: 'no' }, context)),
      overdue: async () => bench.clock.step(1_800_000),
      edited: (id) => bench.edit(id, (found, context) => amend(found, { overlap: 'allow' }, context)),
    }
    for (const [way, end] of Object.entries(ways)) {
      const id = await bench.alarm({ every: '1h' }, options)
      bench.clock.step(3_600_000)
      const first = await bench.takeOne(leases)
      await bench.settle(first, 'delivered')
      bench.clock.step(3_600_000)
      assert.deepEqual((await bench.take(leases)).timers, [], 'the second one is queued')
      await end(id)
      // The look that ends the first one may be the one before that which finds the second.
      const takings = [...(await bench.take(leases)).timers, ...(await bench.take(leases)).timers]
      const [second] = takings
      assert.equal(second?.timer.scheduledFor, first.timer.scheduledFor + 3_600_000, way)
      await bench.settle(second!, 'delivered')
      await bench.cancel(id)
    }
  },

  async 'a report that comes before the settle is what came of the delivery'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' }, { ack: 'report' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    await bench.edit(id, (found, context) => report(found, { ok: true, text: 'early' }, context))
    await bench.settle(taking, 'delivered')
    assert.deepEqual([await bench.state(id), (await bench.get(id)).outcome!.result], ['completed', 'early'])
  },

  async 'what used its tries up is handed to its dead-letter target, as an alarm of its own'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' }, { maxFailures: 1, onFailure: 'bury', payload: { a: 1 } })
    bench.clock.step(1000)
    await bench.settle(await bench.takeOne(leases), 'failed')
    assert.deepEqual(await bench.types(id), ['alarm.failed', 'alarm.dead_lettered'])
    const letter = await bench.takeOne(leases)
    assert.deepEqual([letter.alarm.target.name, letter.alarm.payload], ['bury', '{"a":1}'])
    await bench.settle(letter, 'delivered')
    assert.equal((await bench.store.stats(ANN)).total, 2)
  },

  async 'what nobody can run waits uncounted, and is let go when its handler comes'(bench) {
    const leases = await bench.own()
    bench.canRun = ({ name }) => name !== 'unknown'
    const id = await bench.alarm({ delay: '1s' }, { target: 'unknown' })
    await bench.alarm({ delay: '1s' }, { target: 'other' })
    bench.clock.step(1000)
    const taking = await bench.takeOne(leases)
    assert.equal(taking.alarm.target.name, 'other')
    await bench.settle(taking, 'delivered')
    assert.equal((await bench.get(id)).timers[0]!.waiting, 'handler')
    assert.deepEqual((await bench.take(leases)).timers, [])
    const release = (handler: string, from = leases) =>
      bench.store.requeueWaiting(from, { handler }, bench.now, 10)
    assert.deepEqual([await release('other'), await release('unknown', [])], [0, 0])
    bench.canRun = () => true
    assert.deepEqual([await release('unknown'), await release('unknown')], [1, 0])
    const waited = await bench.takeOne(leases)
    assert.deepEqual([waited.alarm.id, waited.timer.attempt], [id, 0])
    await bench.settle(waited, 'delivered')
    assert.deepEqual(await bench.types(id), ['alarm.fired'])
  },

  async 'passes over tenants that have enough, however much of theirs is due'(bench) {
    const leases = await bench.own()
    const [bob, zeta] = OTHERS
    for (let i = 0; i < 30; i++) await bench.alarm({ delay: '1s' }, {}, i % 2 === 0 ? ANN : bob!)
    const waiting = await bench.alarm({ delay: '2s' }, {}, zeta!)
    const later = await bench.alarm({ delay: '10s' }, {}, zeta!)
    bench.clock.step(3000)
    const avoid = new Set(['acme'])
    const taken = await bench.take(leases, { limit: 5, avoid })
    assert.deepEqual(
      taken.timers.map(({ alarm }) => alarm.id),
      [waiting],
    )
    assert.equal(taken.nextWakeAt, (await bench.get(later, zeta!)).timers[0]!.wakeAt)
    await bench.settle(taken.timers, 'delivered')
    assert.deepEqual((await bench.take(leases, { limit: 5, avoid })).timers, [])
    assert.equal((await bench.take(leases, { limit: 100 })).timers.length, 30)
  },

  async 'comes to every tenant beside one that crowds, however many wait'(bench) {
    const leases = await bench.own()
    for (let i = 100; i < 170; i++)
      await bench.alarm({ delay: '1h' }, {}, { tenant: `tenant${i}`, owner: '' })
    const last = await bench.alarm({ delay: '1s' }, {}, { tenant: 'zebra', owner: '' })
    bench.clock.step(2000)
    const ids: string[] = []
    for (let look = 0; look < 5 && ids.length === 0; look++) {
      const { timers: takings } = await bench.take(leases, { avoid: new Set(['acme']) })
      ids.push(...takings.map(({ alarm }) => alarm.id))
    }
    assert.deepEqual(ids, [last])
  },

  async 'passes over what is held of those whom another crowds out'(bench) {
    const leases = await bench.own()
    const [, zeta] = OTHERS
    for (let i = 0; i < 20; i++) await bench.alarm({ delay: '1s' }, {}, zeta!)
    bench.clock.step(2000)
    const avoid = new Set(['acme'])
    const held = new Map<Serial, number>()
    while (held.size < 20) {
      const { timers: takings } = await bench.take(leases, {
        limit: 6,
        avoid,
        held: { size: held.size, has: (id, version) => held.get(id) === version },
      })
      assert.equal(takings.length, Math.min(6, 20 - held.size))
      for (const { timer } of takings) held.set(timer.id, timer.version)
    }
  },
})

function labels(takings: readonly ClaimedTimer[]): string[] {
  return takings.map(({ alarm }) => alarm.label)
}
