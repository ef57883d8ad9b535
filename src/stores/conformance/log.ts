import assert from 'node:assert/strict'
import { pause, resume, type Scope, serialOf } from '../../alarm/index.ts'
import { goneFact } from '../event-row.ts'
import { isCut, LOG_BYTES_MAX } from '../page-size.ts'
import type { LogEvent } from '../store.ts'
import { ANN, type Bench, OTHERS } from './bench.ts'
import { casesOf } from './conformance-case.ts'

const DAY_MS = 86_400_000

/** The log: in order, by cursor, one owner's only; and what retention removes from it. */
export const logCases = casesOf('log', {
  async 'is read in order from any place, without loss or repetition'(bench) {
    const leases = await bench.own()
    for (let i = 1; i <= 25; i++) await bench.alarm({ delay: `${i}s` }, { target: { event: true } })
    for (let i = 1; i <= 25; i++) {
      bench.clock.step(1000)
      await bench.take(leases)
    }
    const all = await bench.events()
    assert.equal(all.length, 25)
    for (const limit of [1, 7, 25, 100]) assert.deepEqual(await pages(bench, ANN, limit), all)
    assert.ok(all.every(({ seq, at }, i) => i === 0 || (seq > all[i - 1]!.seq && at >= all[i - 1]!.at)))
    assert.equal(await bench.store.lastEvent(), all.at(-1)!.seq)
    assert.equal(await bench.store.newestInstant(), all.at(-1)!.at)
    assert.deepEqual(await bench.store.events(ANN, { after: all[9]!.seq, limit: 3 }), all.slice(10, 13))
    assert.deepEqual(await bench.store.events(ANN, { after: all.at(-1)!.seq, limit: 3 }), [])
  },

  async 'a page ends at so much content, and the next goes on there'(bench) {
    const data = JSON.stringify({ text: 'ä'.repeat(3_000) })
    for (let n = 0; n < 15; n++) {
      const own = {
        id: `own-${n}`,
        type: 'own.large',
        at: bench.now,
        subject: null,
        correlationId: null,
        data,
      }
      await bench.store.append(ANN, own)
    }
    const first = await bench.store.events(ANN, { after: 0, limit: 100 })
    assert.equal(first.length, Math.ceil(LOG_BYTES_MAX / Buffer.byteLength(data)))
    assert.ok(isCut(first, 100))
    const rest = await bench.store.events(ANN, { after: first.at(-1)!.seq, limit: 100 })
    assert.ok(!isCut(rest, 100))
    assert.equal(new Set([...first, ...rest].map(({ id }) => id)).size, 15)
  },

  async 'tells an alarm with its newest events, oldest of them first, and to nobody else (isolated)'(bench) {
    const id = await bench.alarm({ delay: '1h' })
    await bench.edit(id, pause)
    await bench.edit(id, resume)
    await bench.cancel(id)
    for (const limit of [0, 2, 50]) {
      const { snapshot, events } = (await bench.store.story(ANN, id, limit))!
      assert.deepEqual(snapshot, await bench.get(id))
      assert.deepEqual(events, limit === 0 ? [] : (await bench.events(id)).slice(-limit))
    }
    for (const other of OTHERS) assert.equal(await bench.store.story(other, id, 50), null)
    assert.equal(await bench.store.story(ANN, 'nobody', 50), null)
  },

  async 'knows the newest moment it has a record of'(bench) {
    assert.equal(await bench.store.newestInstant(), null)
    const setAt = bench.clock.now()
    await bench.alarm({ delay: '1d' })
    bench.clock.step(5000)
    assert.equal(await bench.store.newestInstant(), setAt)
  },

  async 'tells one alarm’s story in the order it happened'(bench) {
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1s' }, { key: 'k', subject: 's', correlationId: 'c' })
    await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    await bench.settle((await bench.take(leases)).timers, 'failed')
    await bench.set({ delay: '1h' }, { key: 'k', subject: 's', correlationId: 'c' })
    await bench.cancel(id)
    const events = await bench.events(id)
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

  async 'shows nobody another owner’s events (isolated)'(bench) {
    const id = await bench.alarm({ delay: '1h' })
    await bench.cancel(id)
    for (const other of OTHERS) {
      assert.deepEqual(await bench.events(undefined, other), [])
      assert.deepEqual(await bench.events(id, other), [])
    }
    assert.equal((await bench.events()).length, 1)
  },

  async 'takes an event of a user’s own among the rest'(bench) {
    await bench.cancel(await bench.alarm({ delay: '1h' }))
    const own = {
      id: 'evt-1',
      type: 'door.opened',
      at: bench.now,
      subject: 'door',
      correlationId: null,
      data: '{"big":9007199254740993}',
    }
    const appended = await bench.store.append(ANN, own)
    const [, read] = await bench.events()
    assert.deepEqual(read, appended)
    assert.deepEqual({ ...read, ...own, origin: 'caught', alarmId: null }, read)
    for (const other of OTHERS) assert.deepEqual(await bench.events(undefined, other), [])
  },

  async 'prune removes ended alarms with their events, and nothing else'(bench) {
    bench.hasPruned = true
    const leases = await bench.own()
    const recurring = await bench.alarm({ every: '12h' })
    const old = await bench.alarm({ delay: '1h' }, { idempotencyKey: 'i' })
    const active = await bench.alarm({ delay: '90d' })
    bench.clock.step(DAY_MS / 2)
    await bench.settle((await bench.take(leases)).timers, 'delivered')
    await bench.store.append(ANN, ownEvent(bench.now))
    bench.clock.step(2 * DAY_MS)
    const recent = await bench.alarm({ delay: '1h' })
    await bench.cancel(recent)
    const kept = [recurring, active, recent]
    const before = await Promise.all(kept.map(async (id) => [await bench.get(id), await bench.events(id)]))
    assert.equal(await bench.store.prune(bench.now - DAY_MS, 100), 1)
    assert.equal(await bench.store.prune(bench.now - DAY_MS, 100), 0)
    assert.equal(await bench.store.get(ANN, { id: old }), null)
    assert.deepEqual(await bench.events(old), [])
    assert.deepEqual(
      await Promise.all(kept.map(async (id) => [await bench.get(id), await bench.events(id)])),
      before,
    )
    const left = await bench.events()
    const types = left.map(({ type }) => type)
    assert.deepEqual(types, ['alarm.fired', 'door.opened', 'alarm.cancelled'])
    // The newest of the deleted ones stood among those that are left.
    const gone = serialOf((await bench.store.getMeta(goneFact(ANN)))!)
    assert.ok(gone < left[1]!.seq && !left.some(({ seq }) => seq === gone))
    for (const other of OTHERS) assert.equal(await bench.store.getMeta(goneFact(other)), null)
    assert.equal((await bench.set({ delay: '1h' }, { idempotencyKey: 'i' })).outcome, 'created')
  },

  async 'prune goes on in bounded pieces until all that is old is gone'(bench) {
    bench.hasPruned = true
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.push(await bench.alarm({ delay: '1h' }))
    for (const id of ids) await bench.cancel(id)
    bench.clock.step(2 * DAY_MS)
    const pruned: number[] = []
    for (let i = 0; i < 4; i++) pruned.push(await bench.store.prune(bench.now - DAY_MS, 3))
    assert.deepEqual(pruned, [3, 3, 1, 0])
  },

  async 'an ended alarm that was set again, and what ended late, are pruned by their last event'(bench) {
    bench.hasPruned = true
    const leases = await bench.own()
    const id = await bench.alarm({ delay: '1h' }, { key: 'k' })
    await bench.cancel(id)
    bench.clock.step(2 * DAY_MS)
    await bench.set({ delay: '1h' }, { key: 'k' })
    assert.equal(await bench.store.prune(bench.now - DAY_MS, 100), 0)
    bench.clock.step(DAY_MS / 24)
    await bench.settle(await bench.takeOne(leases), 'delivered')
    assert.equal(await bench.store.prune(bench.now - DAY_MS, 100), 0)
    bench.clock.step(2 * DAY_MS)
    assert.equal(await bench.store.prune(bench.now - DAY_MS, 100), 1)
    assert.deepEqual(await bench.events(), [])
  },
})

async function pages(bench: Bench, scope: Scope, limit: number): Promise<LogEvent[]> {
  const all: LogEvent[] = []
  for (;;) {
    const page = await bench.store.events(scope, { after: all.at(-1)?.seq ?? 0, limit })
    assert.ok(page.length <= limit)
    if (page.length === 0) return all
    all.push(...page)
  }
}

function ownEvent(at: number) {
  return { id: 'own', type: 'door.opened', at, subject: null, correlationId: null, data: '{}' }
}
