import assert from 'node:assert/strict'
import {
  type Alarm,
  occurrenceId,
  pause,
  rawJson,
  type SetOptions,
  type Snapshot,
  stateOf,
  type Timer,
} from '../../alarm/index.ts'
import type { When } from '../../time/index.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, OTHERS } from './harness.ts'

const RAW = '{"b":1,"a":9007199254740993,"é":"\\u0000"}'

const EVERYTHING: SetOptions = {
  label: 'O\'Brien; DROP TABLE "alarms" -- %_\\',
  message: 'line\n\ttab \u202ertl 🦊 é é',
  conversationId: 'conversation/1',
  key: 'a key',
  idempotencyKey: 'once only',
  subject: 'order:7',
  correlationId: 'corr-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  maxFailures: 7,
  backoff: { baseMs: 10, capMs: 20 },
  timeout: '9s',
  ack: 'report',
  completionTimeout: '11m',
  overlap: 'queue',
  priority: -100,
  onFailure: { handler: 'bury', pool: 'dead' },
  createdBy: 'ann@example.com',
  createdVia: 'rest',
}

/** What a set writes, and when it writes nothing. */
export const setCases = casesOf('sets', {
  async 'returns every field as it was set (verbatim)'(harness) {
    const rules = [
      { delay: '1h', misfire: 'skip' as const },
      { every: '90m', count: 3 },
      { cron: '0 9 * * 1-5', timezone: 'Europe/Rome' },
    ]
    for (const [i, when] of rules.entries()) {
      const names = { key: `key ${i}`, idempotencyKey: `once ${i}` }
      const request = harness.request(when, { ...EVERYTHING, ...names, payload: { n: i } })
      await harness.store.set([request], harness.context())
      const { alarm, timers } = await harness.get(request.alarm.id)
      assert.deepEqual(pick(alarm, request.alarm), request.alarm)
      assert.deepEqual(pick(timers[0]!, request.timer), request.timer)
    }
  },

  async 'keeps a payload byte for byte (verbatim)'(harness) {
    const texts = [RAW, '{ "spaces" : [ 1.0, 1e400, -0 ] }', '"\\ud83d\\ude00"', 'null', '""', '[]', '1e5']
    for (const text of texts) {
      const id = await harness.alarm({ delay: '1h' }, { payload: rawJson(text) })
      assert.equal((await harness.get(id)).alarm.payload, text)
    }
    const none = await harness.alarm({ delay: '1h' })
    assert.equal((await harness.get(none)).alarm.payload, '{}')
  },

  async 'passes the payload to a delivery and to the log byte for byte (verbatim)'(harness) {
    const leases = await harness.heartbeat()
    await harness.alarm({ delay: '1s' }, { payload: rawJson(RAW) })
    const id = await harness.alarm({ delay: '1s' }, { payload: rawJson(RAW), target: { event: true } })
    harness.clock.step(1000)
    assert.equal((await harness.claimOne(leases)).alarm.payload, RAW)
    assert.ok((await harness.events(id))[0]!.data.includes(`"payload":${RAW}`))
  },

  async 'finds an alarm by each of its names, for its owner only (isolated)'(harness) {
    const id = await harness.alarm({ delay: '1h' }, { key: 'k', idempotencyKey: 'i' })
    for (const name of [{ id }, { key: 'k' }, { idempotencyKey: 'i' }]) {
      assert.equal((await harness.store.get(ANN, name))?.alarm.id, id)
      for (const other of OTHERS) assert.equal(await harness.store.get(other, name), null)
    }
    assert.equal(await harness.store.get(ANN, { id: 'k' }), null)
  },

  async 'keeps keys and idempotency keys of different owners apart (isolated)'(harness) {
    const ids = new Set<string>()
    for (const scope of [ANN, ...OTHERS]) {
      const { outcome, snapshot } = await harness.set(
        { delay: '1h' },
        { key: 'k', idempotencyKey: 'i' },
        scope,
      )
      assert.equal(outcome, 'created')
      ids.add(snapshot.alarm.id)
    }
    assert.equal(ids.size, 3)
  },

  async 'answers a known idempotency key with the first alarm and changes nothing'(harness) {
    const first = await harness.set({ delay: '1h' }, { idempotencyKey: 'i', label: 'first' })
    const before = await harness.get(first.snapshot.alarm.id)
    const again = await harness.set({ delay: '2h' }, { idempotencyKey: 'i', label: 'second' })
    assert.deepEqual([again.outcome, again.snapshot.alarm.label], ['deduped', 'first'])
    assert.deepEqual(await harness.get(first.snapshot.alarm.id), before)
  },

  async 'keeps an idempotency key as long as its alarm, also after that has ended'(harness) {
    const id = await harness.alarm({ delay: '1h' }, { idempotencyKey: 'i' })
    await harness.cancel(id)
    const again = await harness.set({ delay: '2h' }, { idempotencyKey: 'i' })
    assert.deepEqual([again.outcome, again.snapshot.alarm.id], ['deduped', id])
    assert.equal(await harness.state(id), 'cancelled')
  },

  async 'treats the same idempotency key twice in one batch as one alarm'(harness) {
    const requests = ['1h', '2h', '3h'].map((delay) => harness.request({ delay }, { idempotencyKey: 'i' }))
    const answers = await harness.store.set(requests, harness.context())
    assert.deepEqual(
      answers.map(({ outcome, snapshot }) => [outcome, snapshot.alarm.id]),
      ['created', 'deduped', 'deduped'].map((outcome) => [outcome, requests[0]!.alarm.id]),
    )
  },

  async 'treats the same idempotency key of concurrent callers as one alarm'(harness) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => harness.set({ delay: '1h' }, { idempotencyKey: 'i' })),
    )
    assert.equal(new Set(answers.map(({ snapshot }) => snapshot.alarm.id)).size, 1)
    assert.equal(answers.filter(({ outcome }) => outcome === 'created').length, 1)
  },

  async 'sets a known key again: same id, new time, a new generation'(harness) {
    const id = await harness.alarm({ delay: '1h' }, { key: 'k', label: 'old' })
    harness.clock.step(10)
    const { outcome, snapshot } = await harness.set({ delay: '2h' }, { key: 'k', label: 'new' })
    assert.deepEqual([outcome, snapshot.alarm.id, snapshot.alarm.label], ['replaced', id, 'new'])
    const { alarm, timers } = await harness.get(id)
    assert.deepEqual([alarm.generation, alarm.createdAt, timers.length], [2, harness.now - 10, 1])
    assert.equal(timers[0]!.wakeAt, harness.now + 7_200_000)
    assert.deepEqual(await harness.types(id), ['alarm.rescheduled'])
  },

  async 'applies the same key twice in one batch in order: the last one wins'(harness) {
    const requests = ['1h', '3h', '2h'].map((delay) => harness.request({ delay }, { key: 'k', label: delay }))
    const answers = await harness.store.set(requests, harness.context())
    assert.deepEqual(
      answers.map(({ outcome }) => outcome),
      ['created', 'replaced', 'replaced'],
    )
    const { alarm, timers } = await harness.get(requests[0]!.alarm.id)
    assert.deepEqual([alarm.label, alarm.generation, timers.length], ['2h', 3, 1])
  },

  async 'an ended alarm that is set again starts afresh: active, no failures, no result'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { key: 'k', maxFailures: 1 })
    harness.clock.step(1000)
    await harness.settle(await harness.claimOne(leases), 'failed')
    assert.equal(await harness.state(id), 'failed')
    await harness.set({ delay: '1h' }, { key: 'k' })
    const { alarm, timers, outcome } = await harness.get(id)
    assert.deepEqual([stateOf(alarm, timers, outcome), outcome], ['active', null])
  },

  async 'gives an occurrence a new id after an upsert to the same instant, once that has come'(harness) {
    const at = new Date(harness.now + 3_600_000)
    const ids = []
    for (const label of ['old', 'new', 'newest']) {
      const { snapshot } = await harness.set({ at }, { key: 'k', label })
      assert.equal(snapshot.alarm.label, label)
      ids.push(occurrenceId(snapshot.alarm, snapshot.timers[0]!))
      if (label === 'new') harness.clock.step(3_600_000)
    }
    assert.equal(ids[0], ids[1])
    assert.notEqual(ids[1], ids[2])
  },

  async 'goes on with its rule after an upsert of its options, by the new target, and remembers the idempotency key'(
    harness,
  ) {
    const old = await harness.set({ every: '1m' }, { key: 'k', idempotencyKey: 'a' })
    harness.clock.step(10_000)
    const context = harness.context()
    const request = harness.request({ every: '1m' }, { key: 'k', idempotencyKey: 'b', label: 'new' })
    const target = { kind: 'handler', name: 'other', pool: 'elsewhere' }
    const [answer] = await harness.store.set([{ ...request, alarm: { ...request.alarm, target } }], context)
    assert.equal(answer!.outcome, 'replaced')
    assert.deepEqual(answer!.snapshot.timers.map(occurrenceOf), old.snapshot.timers.map(occurrenceOf))
    for (const idempotencyKey of ['a', 'b']) {
      const again = await harness.set({ every: '1m' }, { key: 'k', idempotencyKey })
      assert.deepEqual([again.outcome, again.snapshot.alarm.label], ['deduped', 'new'])
    }
    harness.clock.step(50_000)
    assert.deepEqual((await harness.claim(await harness.heartbeat('one', ['app']))).timers, [])
    const { alarm, timer } = await harness.claimOne(await harness.heartbeat('one', ['elsewhere']))
    assert.deepEqual([alarm.target, occurrenceOf(timer)], [target, occurrenceOf(old.snapshot.timers[0]!)])
  },

  async 'changes nothing of a known key that is defined so already, also twice in one batch'(harness) {
    const { idempotencyKey: _, ...everything } = EVERYTHING
    const rules: When[] = [{ every: '1h' }, { cron: '0 9 * * *' }, new Date(harness.now + 3_600_000)]
    for (const [i, when] of rules.entries()) {
      const options = { ...everything, key: `k${i}`, payload: rawJson(RAW), target: 'remind' }
      const id = await harness.alarm(when, options)
      const before = await harness.get(id)
      harness.clock.step(10)
      const others = { idempotencyKey: `i${i}`, createdBy: 'bob', createdVia: 'cli' }
      const requests = [{ ...options, ...others }, options].map((each) => harness.request(when, each))
      const answers = await harness.store.set(requests, harness.context())
      for (const { outcome, snapshot } of answers)
        assert.deepEqual([outcome, snapshot.alarm.id], ['unchanged', id])
      assert.deepEqual(await harness.get(id), before)
      assert.deepEqual(await harness.types(id), [])
    }
    assert.equal((await harness.store.stats(ANN)).total, 3)
  },

  async 'an unchanged set leaves alone what is in flight, retried or awaited'(harness) {
    const leases = await harness.heartbeat()
    const options = { key: 'k', ack: 'report' as const, backoff: { baseMs: 60_000 }, maxFailures: 3 }
    const set = async () => (await harness.set({ every: '1h' }, options)).outcome
    const id = await harness.alarm({ every: '1h' }, options)
    harness.clock.step(3_600_000)
    const claimed = await harness.claimOne(leases)
    assert.equal(await set(), 'unchanged')
    await harness.settle(claimed, 'failed')
    assert.equal(await set(), 'unchanged')
    harness.clock.step(60_000)
    const retried = await harness.claimOne(leases)
    assert.equal(occurrenceId(retried.alarm, retried.timer), occurrenceId(claimed.alarm, claimed.timer))
    await harness.settle(retried, 'delivered')
    assert.equal(await set(), 'unchanged')
    assert.deepEqual((await harness.get(id)).timers.map(({ kind }) => kind).sort(), ['due', 'report'])
    assert.deepEqual(await harness.types(id), ['alarm.attempt_failed', 'alarm.fired'])
  },

  async 'a set with another definition first settles what was due of a recurring alarm (at-least-once)'(
    harness,
  ) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' }, { key: 'k' })
    const start = harness.now
    harness.clock.step(3.5 * 3_600_000)
    const { outcome } = await harness.set({ every: '2h' }, { key: 'k', label: 'new' })
    assert.equal(outcome, 'replaced')
    assert.deepEqual(await harness.types(id), ['alarm.skipped', 'alarm.rescheduled'])
    // Another change before a process fires it does not lose it.
    await harness.set({ every: '3h' }, { key: 'k', label: 'newer', target: 'other' })
    const owed = await harness.claimOne(leases)
    assert.deepEqual([owed.timer.scheduledFor - start, owed.alarm.label], [3 * 3_600_000, 'newer'])
    await harness.settle(owed, 'delivered')
    assert.deepEqual((await harness.types(id)).at(-1), 'alarm.fired')
    const { timers } = await harness.get(id)
    assert.deepEqual(
      timers.map(({ scheduledFor }) => scheduledFor),
      [harness.now + 3 * 3_600_000],
    )
  },

  async 'a set of a known key leaves a pause, unless it ends it'(harness) {
    const id = await harness.alarm({ every: '1h' }, { key: 'k' })
    await harness.edit(id, pause)
    for (const [when, outcome] of [
      ['1h', 'unchanged'],
      ['2h', 'replaced'],
    ] as const) {
      const answer = await harness.set({ every: when }, { key: 'k' })
      assert.deepEqual([answer.outcome, await harness.state(id)], [outcome, 'paused'])
    }
    const request = { ...harness.request({ every: '2h' }, { key: 'k' }), resumes: true }
    const [answer] = await harness.store.set([request], harness.context())
    assert.deepEqual([answer!.outcome, await harness.state(id)], ['replaced', 'active'])
    assert.deepEqual((await harness.get(id)).timers[0]!.waiting, null)
  },

  async 'keeps the name of the list that declares an alarm, which selects it'(harness) {
    const declare = async (key: string, declaredBy: string | null, when = '1h') => {
      const request = harness.request({ every: when }, { key })
      const declared = { ...request, alarm: { ...request.alarm, declaredBy } }
      return (await harness.store.set([declared], harness.context()))[0]!.outcome
    }
    const selected = async (declaredBy: string) => {
      const decide = ({ alarm }: Snapshot) => ({ change: {}, answer: alarm.key })
      const which = { declaredBy, limit: 10 }
      const { results } = await harness.store.edit(ANN, which, decide, harness.context())
      return results.map(({ answer }) => answer).sort()
    }
    for (const key of ['a', 'b']) assert.equal(await declare(key, 'list'), 'created')
    assert.equal(await declare('c', null), 'created')
    assert.deepEqual(await selected('list'), ['a', 'b'])
    // A set that declares nothing leaves the name, unless it changes the alarm; one that does takes it over.
    assert.equal(await declare('a', null), 'unchanged')
    assert.equal(await declare('b', null, '2h'), 'replaced')
    assert.equal(await declare('c', 'list'), 'unchanged')
    assert.deepEqual(await selected('list'), ['a', 'c'])
    assert.equal(await declare('c', 'other'), 'unchanged')
    assert.deepEqual([await selected('list'), await selected('other')], [['a'], ['c']])
    const id = (await harness.store.get(ANN, { key: 'a' }))!.alarm.id
    await harness.cancel(id)
    assert.equal(await declare('a', null), 'restarted')
    assert.deepEqual(await selected('list'), [])
  },

  async 'several known keys in one batch find their alarms'(harness) {
    const batch = (delay: string) => ['a', 'b', 'c'].map((key) => harness.request({ delay }, { key }))
    const first = await harness.store.set(batch('1h'), harness.context())
    const again = await harness.store.set(batch('2h').reverse(), harness.context())
    assert.deepEqual(
      again.map(({ snapshot }) => snapshot.alarm.id).reverse(),
      first.map(({ snapshot }) => snapshot.alarm.id),
    )
  },

  async 'writes a batch in the order given, whatever keys its alarms have'(harness) {
    const labels = Array.from({ length: 10 }, (_, i) => String(i))
    const namings: ((i: number) => SetOptions)[] = [
      () => ({}),
      (i) => ({ key: `k${9 - i}` }),
      (i) => ({ idempotencyKey: `i${(i * 7) % 10}` }),
      (i) => (i % 2 === 0 ? {} : { key: `k${9 - i}`, idempotencyKey: `i${(i * 7) % 10}` }),
    ]
    for (const [at, naming] of namings.entries()) {
      const scope = { tenant: 'acme', owner: `owner ${at}` }
      const requests = labels.map((label, i) =>
        harness.request({ delay: '1h' }, { label, ...naming(i) }, scope),
      )
      await harness.store.set(requests, harness.context())
      for (const order of ['newest', 'due'] as const) {
        const { items } = await harness.store.list(scope, { order, limit: 50 })
        const listed = items.map(({ alarm }) => alarm.label)
        assert.deepEqual(order === 'due' ? listed : listed.toReversed(), labels, `${order}, keys ${at}`)
      }
    }
  },

  async 'writes a batch all or not at all'(harness) {
    const good = harness.request({ delay: '1h' })
    const clash = { ...harness.request({ delay: '1h' }), alarm: good.alarm }
    await assert.rejects(
      harness.store.set([harness.request({ delay: '1h' }), good, clash], harness.context()),
    )
    assert.deepEqual((await harness.store.list(ANN, { order: 'newest', limit: 10 })).items, [])
  },

  async 'a refused set does not affect concurrent ones'(harness) {
    const good = harness.request({ delay: '1h' })
    const sets = [[good], [good], [harness.request({ delay: '2h' })]]
    const answers = await Promise.allSettled(sets.map((each) => harness.store.set(each, harness.context())))
    const [one, again, other] = answers.map(({ status }) => status)
    // Callers of one moment have no order: one of the two that are the same is refused.
    assert.deepEqual([one, again].sort(), ['fulfilled', 'rejected'])
    assert.equal(other, 'fulfilled')
    assert.equal((await harness.store.stats(ANN)).total, 2)
  },

  async 'keeps every alarm of concurrent callers'(harness) {
    const ids = await Promise.all(
      Array.from({ length: 300 }, (_, i) => harness.alarm({ delay: `${i + 1}m` })),
    )
    for (const id of ids) assert.equal((await harness.get(id)).timers.length, 1)
    assert.equal((await harness.store.stats(ANN)).pending, 300)
  },
})

/** The fields of one that the other has: a store may keep more beside them. */
function pick<T extends object>(from: T, like: Partial<Alarm> | Partial<T>): object {
  return Object.fromEntries(Object.keys(like).map((name) => [name, from[name as keyof T]]))
}

function occurrenceOf({ generation, tick, scheduledFor }: Timer): readonly number[] {
  return [generation, tick, scheduledFor]
}
