import assert from 'node:assert/strict'
import { pause, type ReadScope, resume, type Scope } from '../../alarm/index.ts'
import type { EventFilter, LogEvent } from '../event-log.ts'
import { LOG_BYTES_MAX } from '../page-size.ts'
import { EVENTS_KEPT } from '../retention.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

const DAY_MS = 86_400_000

/** The log: in order, by cursor, one owner's only; and what retention removes from it. */
export const logCases = casesOf('log', {
  async 'is read in order from any position, without loss or repetition'(harness) {
    const leases = await harness.heartbeat()
    for (let i = 1; i <= 25; i++) await harness.alarm({ delay: `${i}s` }, { target: { event: true } })
    for (let i = 1; i <= 25; i++) {
      harness.clock.step(1000)
      await harness.claim(leases)
    }
    const all = await harness.events()
    assert.equal(all.length, 25)
    for (const limit of [1, 7, 25, 100]) assert.deepEqual(await pages(harness, ANN, limit), all)
    assert.ok(all.every(({ seq, at }, i) => i === 0 || (seq > all[i - 1]!.seq && at >= all[i - 1]!.at)))
    assert.equal(await harness.store.lastEvent(), all.at(-1)!.seq)
    assert.equal(await harness.store.newestInstant(), all.at(-1)!.at)
    const middle = await harness.store.events(ANN, { after: all[9]!.seq, limit: 3 })
    assert.deepEqual(middle, { events: all.slice(10, 13), next: all[12]!.seq, more: true })
    const end = all.at(-1)!.seq
    assert.deepEqual(await harness.store.events(ANN, { after: end, limit: 3 }), {
      events: [],
      next: end,
      more: false,
    })
    const fifth = await harness.store.firstEventAfter(all[3]!.seq)
    assert.deepEqual([fifth?.seq, fifth?.at], [all[4]!.seq, all[4]!.at])
    assert.equal(await harness.store.firstEventAfter(end), null)
  },

  async 'a page ends at its content limit, and the next continues there'(harness) {
    const data = JSON.stringify({ text: 'ä'.repeat(3_000) })
    for (let n = 0; n < 15; n++) {
      const own = {
        id: `own-${n}`,
        type: 'own.large',
        at: harness.now,
        subject: null,
        correlationId: null,
        data,
      }
      await harness.store.append(ANN, own)
    }
    const first = await harness.store.events(ANN, { after: 0, limit: 100 })
    assert.equal(first.events.length, Math.ceil(LOG_BYTES_MAX / Buffer.byteLength(data)))
    assert.ok(first.more)
    const rest = await harness.store.events(ANN, { after: first.next, limit: 100 })
    assert.ok(!rest.more)
    assert.equal(new Set([...first.events, ...rest.events].map(({ id }) => id)).size, 15)
  },

  async 'returns an alarm with its newest events in log order, to its owner only (isolated)'(harness) {
    const id = await harness.alarm({ delay: '1h' })
    await harness.edit(id, pause)
    await harness.edit(id, resume)
    await harness.cancel(id)
    for (const limit of [0, 2, 50]) {
      const { snapshot, events } = (await harness.store.story(ANN, id, limit))!
      assert.deepEqual(snapshot, await harness.get(id))
      assert.deepEqual(events, limit === 0 ? [] : (await harness.events(id)).slice(-limit))
    }
    for (const other of OTHERS) assert.equal(await harness.store.story(other, id, 50), null)
    assert.equal(await harness.store.story(ANN, 'nobody', 50), null)
  },

  async 'knows the newest instant that it has recorded'(harness) {
    assert.equal(await harness.store.newestInstant(), null)
    const setAt = harness.clock.now()
    await harness.alarm({ delay: '1d' })
    harness.clock.step(5000)
    assert.equal(await harness.store.newestInstant(), setAt)
  },

  async 'returns one alarm’s events in the order they happened'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { key: 'k', subject: 's', correlationId: 'c' })
    await harness.alarm({ delay: '1s' })
    harness.clock.step(1000)
    await harness.settle((await harness.claim(leases)).timers, 'failed')
    await harness.set({ delay: '1h' }, { key: 'k', subject: 's', correlationId: 'c' })
    await harness.cancel(id)
    const events = await harness.events(id)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['alarm.attempt_failed', 'alarm.skipped', 'alarm.rescheduled', 'alarm.cancelled'],
    )
    for (const event of events) {
      const { alarmId, key, subject, correlationId, tenant, owner } = event
      assert.deepEqual(
        [alarmId, key, subject, correlationId, tenant, owner],
        [id, 'k', 's', 'c', 'acme', 'ann'],
      )
      assert.ok(event.occurrenceId === null || event.occurrenceId.startsWith(`${id}-`))
      JSON.parse(event.data)
    }
    assert.equal(new Set(events.map((event) => event.id)).size, events.length)
  },

  async 'returns the events of a tenant’s every owner, or of every tenant'(harness) {
    const scopes = [ANN, ...OTHERS]
    for (const [n, scope] of scopes.entries())
      await harness.store.append(scope, { ...ownEvent(harness.now), id: `own-${n}` })
    const idsIn = async (scope: ReadScope) =>
      (await harness.store.events(scope, { after: 0, limit: 100 })).events.map(({ id }) => id)
    const expected = (isSeen: (scope: Scope) => boolean) =>
      scopes.flatMap((scope, n) => (isSeen(scope) ? [`own-${n}`] : []))
    assert.deepEqual(
      await idsIn({ tenant: null, owner: null }),
      expected(() => true),
    )
    assert.deepEqual(
      await idsIn({ tenant: ANN.tenant, owner: null }),
      expected(({ tenant }) => tenant === ANN.tenant),
    )
    assert.deepEqual(await idsIn({ tenant: 'nobody', owner: null }), [])
    const id = await harness.alarm({ delay: '1h' })
    await harness.cancel(id)
    const ofAlarm = { after: 0, limit: 10, alarmId: id }
    for (const wide of WIDE) assert.equal((await harness.store.events(wide, ofAlarm)).events.length, 1)
    const foreign = { tenant: 'nobody', owner: null }
    assert.deepEqual(await harness.store.events(foreign, ofAlarm), { events: [], next: 0, more: false })
  },

  async 'returns what a filter matches, and passes over the rest'(harness) {
    const start = harness.now
    const id = await harness.alarm({ delay: '1h' }, { subject: 'door', correlationId: 'c-1' })
    await harness.edit(id, pause)
    harness.clock.step(1_000)
    await harness.edit(id, resume)
    await harness.store.append(ANN, { ...ownEvent(harness.now), correlationId: 'c-1' })
    await harness.cancel(id)
    const all = await harness.events()
    const typesIn = async (filter: EventFilter, scope: ReadScope = ANN, alarm = {}) => {
      const page = await harness.store.events(scope, { after: 0, limit: 100, filter, ...alarm })
      assert.ok(!page.more)
      return page.events.map(({ type }) => type)
    }
    const cases: [EventFilter, readonly string[]][] = [
      [{}, ['alarm.paused', 'alarm.resumed', 'door.opened', 'alarm.cancelled']],
      [{ types: ['alarm.paused', 'door.opened'] }, ['alarm.paused', 'door.opened']],
      [{ types: ['alarm.'] }, ['alarm.paused', 'alarm.resumed', 'alarm.cancelled']],
      [{ types: ['door.', 'alarm.resumed'] }, ['alarm.resumed', 'door.opened']],
      [{ types: ['alarm', 'alar.', 'al_rm.', '%'] }, []],
      [{ origin: 'caught' }, ['door.opened']],
      [{ subject: 'door' }, ['alarm.paused', 'alarm.resumed', 'alarm.cancelled']],
      [{ correlationId: 'c-1' }, ['alarm.paused', 'alarm.resumed', 'door.opened', 'alarm.cancelled']],
      [{ correlationId: 'c-2' }, []],
      [{ until: start + 1_000 }, ['alarm.paused']],
      [{ since: start + 1_000, types: ['alarm.'] }, ['alarm.resumed', 'alarm.cancelled']],
    ]
    for (const [filter, expected] of cases) {
      for (const scope of [ANN, ...WIDE]) assert.deepEqual(await typesIn(filter, scope), expected)
      const ofAlarm = expected.filter((type) => type !== 'door.opened')
      assert.deepEqual(await typesIn(filter, ANN, { alarmId: id }), ofAlarm)
      for (const other of OTHERS) assert.deepEqual(await typesIn(filter, other), [])
    }
    const one = { after: 0, limit: 1, filter: { types: ['alarm.'] } }
    const first = await harness.store.events(ANN, one)
    assert.deepEqual([first.events, first.next, first.more], [[all[0]], all[0]!.seq, true])
    // What does not match was read all the same: a reader need not go through it again.
    const none = await harness.store.events(ANN, { after: 0, limit: 1, filter: { types: ['no.such'] } })
    assert.deepEqual(none, { events: [], next: await harness.store.lastEvent(), more: false })
  },

  async 'returns only the owner’s own events (isolated)'(harness) {
    const id = await harness.alarm({ delay: '1h' })
    await harness.cancel(id)
    for (const other of OTHERS) {
      assert.deepEqual(await harness.events(undefined, other), [])
      assert.deepEqual(await harness.events(id, other), [])
    }
    assert.equal((await harness.events()).length, 1)
  },

  async 'appends a user’s event'(harness) {
    await harness.cancel(await harness.alarm({ delay: '1h' }))
    const own = {
      id: 'evt-1',
      type: 'door.opened',
      at: harness.now,
      subject: 'door',
      correlationId: null,
      data: '{"big":9007199254740993}',
    }
    const appended = await harness.store.append(ANN, own)
    const [, read] = await harness.events()
    assert.deepEqual(read, appended)
    assert.deepEqual({ ...read, ...own, origin: 'caught', alarmId: null }, read)
    for (const other of OTHERS) assert.deepEqual(await harness.events(undefined, other), [])
  },

  async 'prune removes ended alarms with their events, and nothing else'(harness) {
    harness.hasPruned = true
    const leases = await harness.heartbeat()
    const recurring = await harness.alarm({ every: '12h' })
    const old = await harness.alarm({ delay: '1h' }, { idempotencyKey: 'i' })
    const active = await harness.alarm({ delay: '90d' })
    harness.clock.step(DAY_MS / 2)
    await harness.settle((await harness.claim(leases)).timers, 'delivered')
    await harness.store.append(ANN, ownEvent(harness.now))
    harness.clock.step(2 * DAY_MS)
    const recent = await harness.alarm({ delay: '1h' })
    await harness.cancel(recent)
    const kept = [recurring, active, recent]
    const before = await Promise.all(
      kept.map(async (id) => [await harness.get(id), await harness.events(id)]),
    )
    assert.deepEqual(await prune(harness), { alarms: 1, events: 0, wakes: 0, more: false })
    assert.deepEqual(await prune(harness), NOTHING)
    assert.equal(await harness.store.get(ANN, { id: old }), null)
    assert.deepEqual(await harness.events(old), [])
    assert.deepEqual(
      await Promise.all(kept.map(async (id) => [await harness.get(id), await harness.events(id)])),
      before,
    )
    const left = await harness.events()
    const types = left.map(({ type }) => type)
    assert.deepEqual(types, ['alarm.fired', 'door.opened', 'alarm.cancelled'])
    // The newest of the deleted ones stood among those that are left.
    const gone = (await harness.store.prunedTo(ANN))!
    for (const wide of WIDE) assert.equal(await harness.store.prunedTo(wide), gone)
    assert.ok(gone < left[1]!.seq && !left.some(({ seq }) => seq === gone))
    for (const other of OTHERS) assert.equal(await harness.store.prunedTo(other), null)
    assert.equal((await harness.set({ delay: '1h' }, { idempotencyKey: 'i' })).outcome, 'created')
  },

  async 'prune keeps an ended alarm that a list declares'(harness) {
    harness.hasPruned = true
    const leases = await harness.heartbeat()
    const request = harness.request({ delay: '1s' }, { key: 'declared' })
    const declared = { ...request, alarm: { ...request.alarm, declaredBy: 'list' } }
    await harness.store.set([declared], harness.context())
    const other = await harness.alarm({ delay: '1s' }, { key: 'other' })
    harness.clock.step(1_000)
    await harness.settle((await harness.claim(leases)).timers, 'delivered')
    harness.clock.step(3 * DAY_MS)
    assert.deepEqual(await prune(harness), { alarms: 1, events: 0, wakes: 0, more: false })
    assert.equal(await harness.store.get(ANN, { id: other }), null)
    assert.equal(await harness.state(declared.alarm.id), 'fired')
    assert.deepEqual(await harness.types(declared.alarm.id), ['alarm.fired'])
  },

  async 'prune continues in bounded steps until everything old is deleted'(harness) {
    harness.hasPruned = true
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.push(await harness.alarm({ delay: '1h' }))
    for (const id of ids) await harness.cancel(id)
    harness.clock.step(2 * DAY_MS)
    const steps = await Array.fromAsync({ length: 4 }, () => prune(harness, 3))
    assert.deepEqual(
      steps.map(({ more }) => more),
      [true, true, false, false],
    )
    assert.equal(
      steps.reduce((sum, { alarms }) => sum + alarms, 0),
      7,
    )
  },

  async 'an ended alarm that was set again, or that ended late, is pruned by its last event'(harness) {
    harness.hasPruned = true
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1h' }, { key: 'k' })
    await harness.cancel(id)
    harness.clock.step(2 * DAY_MS)
    await harness.set({ delay: '1h' }, { key: 'k' })
    assert.deepEqual(await prune(harness), NOTHING)
    harness.clock.step(DAY_MS / 24)
    await harness.settle(await harness.claimOne(leases), 'delivered')
    assert.deepEqual(await prune(harness), NOTHING)
    harness.clock.step(2 * DAY_MS)
    assert.equal((await prune(harness)).alarms, 1)
    assert.deepEqual(await harness.events(), [])
  },

  async 'old events of a living alarm are deleted, except its newest'(harness) {
    harness.hasPruned = true
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1m' }, { target: { event: true } })
    const rare = await harness.alarm({ every: '1h' }, { target: { event: true } })
    await harness.store.append(ANN, ownEvent(harness.now))
    const fire = async (times: number) => {
      for (let i = 0; i < times; i++) {
        harness.clock.step(60_000)
        await harness.claim(leases)
      }
    }
    await fire(EVENTS_KEPT + 50)
    const before = await harness.events(id)
    // All are recent.
    assert.deepEqual(await prune(harness), NOTHING)
    harness.clock.step(2 * DAY_MS)
    const kept = before.slice(-EVENTS_KEPT)
    const steps = await Array.fromAsync({ length: 6 }, () => prune(harness, 40))
    assert.equal(
      steps.reduce((sum, { events }) => sum + events, 0),
      50,
    )
    assert.deepEqual(await harness.events(id), kept)
    assert.equal((await harness.events(rare)).length, 2)
    const gone = (await harness.store.prunedTo(ANN))!
    assert.equal(gone, before[49]!.seq)
    // What is deleted later was passed when it was among the newest.
    await fire(30)
    assert.deepEqual(await prune(harness), NOTHING)
    harness.clock.step(2 * DAY_MS)
    assert.equal((await prune(harness)).events, 30 + 1)
    const all = await harness.events()
    assert.equal(all.filter(({ alarmId }) => alarmId === id).length, EVENTS_KEPT)
    assert.ok(all.some(({ type }) => type === 'door.opened'))
    // An ended alarm goes with its last event.
    await harness.cancel(id)
    assert.deepEqual(await prune(harness), NOTHING)
    harness.clock.step(2 * DAY_MS)
    assert.equal((await prune(harness)).alarms, 1)
    assert.deepEqual(await harness.events(id), [])
  },
})

/** The scopes of a tenant's every owner, and of every tenant. */
const WIDE: readonly ReadScope[] = [
  { tenant: ANN.tenant, owner: null },
  { tenant: null, owner: null },
]
const NOTHING = { alarms: 0, events: 0, wakes: 0, more: false }

function prune(harness: Harness, limit = 1_000) {
  return harness.store.prune(harness.now - DAY_MS, limit)
}

async function pages(harness: Harness, scope: Scope, limit: number): Promise<LogEvent[]> {
  const all: LogEvent[] = []
  for (;;) {
    const page = await harness.store.events(scope, { after: all.at(-1)?.seq ?? 0, limit })
    assert.ok(page.events.length <= limit)
    all.push(...page.events)
    if (!page.more) return all
    assert.equal(page.next, all.at(-1)!.seq)
  }
}

function ownEvent(at: number) {
  return { id: 'own', type: 'door.opened', at, subject: null, correlationId: null, data: '{}' }
}
