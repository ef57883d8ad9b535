import assert from 'node:assert/strict'
import {
  amend,
  type Change,
  type Context,
  cancel,
  fireNow,
  occurrenceId,
  pause,
  replace,
  report,
  resume,
  retry,
  type Serial,
  type Snapshot,
  type State,
  skipNext,
  snooze,
  stateOf,
  type Timer,
} from '../../alarm/index.ts'
import type { EditResult, Selector } from '../store.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

type Verb = (snapshot: Snapshot, context: Context) => Change

const VERBS: Readonly<Record<string, Verb>> = {
  cancel: (snapshot, context) => cancel(snapshot, context).change,
  pause,
  resume,
  skipNext,
  fireNow,
  snooze: (snapshot, context) => snooze(snapshot, { first: context.now + 5, notes: [] }, context),
  retry,
  complete: (snapshot, context) => report(snapshot, { ok: true, text: 'x' }, context),
  reschedule: (snapshot, context) =>
    replace(snapshot, { alarm: snapshot.alarm, first: context.now + 5 }, 'reschedule', context),
  amend: (snapshot, context) => amend(snapshot, { label: 'theirs' }, context),
}

/** What edits read, decide and write. */
export const editCases = casesOf('edits', {
  async 'no call reaches another owner’s alarm (isolated)'(harness) {
    const id = await harness.alarm({ every: '1h' }, { key: 'k', subject: 's' })
    const before = [await harness.get(id), await harness.events()]
    for (const other of OTHERS) {
      for (const verb of Object.values(VERBS)) assert.equal(await harness.edit(id, verb, other), false)
      const selectors: Selector[] = [
        { key: 'k' },
        { ids: [id] },
        { subject: 's', limit: 9 },
        { pending: true, limit: 9 },
      ]
      for (const which of selectors) {
        const edited = await harness.store.edit(other, which, changeNothing, harness.context())
        assert.deepEqual(edited, { results: [], next: null })
      }
      assert.deepEqual((await harness.store.list(other, { order: 'newest', limit: 9 })).items, [])
      assert.deepEqual((await harness.store.list(other, { order: 'due', limit: 9 })).items, [])
      assert.deepEqual(await harness.events(id, other), [])
      assert.equal((await harness.store.stats(other)).total, 0)
    }
    assert.deepEqual([await harness.get(id), await harness.events()], before)
  },

  async 'a refused edit changes nothing, and does not affect concurrent ones'(harness) {
    const [one, two] = [await harness.alarm({ delay: '1h' }), await harness.alarm({ delay: '1h' })]
    const refusal = new Error('no')
    const refuse = () => {
      throw refusal
    }
    const [refused, paused] = await Promise.allSettled([harness.edit(one, refuse), harness.edit(two, pause)])
    assert.equal(refused.status === 'rejected' && refused.reason, refusal)
    assert.equal(paused.status, 'fulfilled')
    assert.deepEqual([await harness.state(one), await harness.state(two)], ['active', 'paused'])
  },

  async 'an edit of many is all or nothing'(harness) {
    const ids = [await harness.alarm({ delay: '1h' }), await harness.alarm({ delay: '1h' })]
    const context = harness.context()
    let decided = 0
    const second = (snapshot: Snapshot) => {
      decided += 1
      if (decided === 2) throw new Error('no')
      return { change: pause(snapshot, context), answer: null }
    }
    await assert.rejects(harness.store.edit(ANN, { ids }, second, context), /no/)
    for (const id of ids) assert.equal(await harness.state(id), 'active')
  },

  async 'selects by ids in their order, and omits unknown ones'(harness) {
    const ids = [await harness.alarm({ delay: '1h' }), await harness.alarm({ delay: '1h' })]
    const which = { ids: [ids[1]!, 'nobody', ids[0]!] }
    const { results, next } = await harness.store.edit(ANN, which, nameIt, harness.context())
    const answers = results.map(({ answer }) => answer)
    assert.deepEqual({ answers, next }, { answers: [ids[1], ids[0]], next: null })
  },

  async 'selects all alarms of a subject, and all pending ones, page by page'(harness) {
    const ids = await many(harness, 7, { subject: 's' })
    await many(harness, 2, { subject: 't' })
    await harness.cancel(ids[3]!)
    const pending = ids.filter((_, i) => i !== 3)
    assert.deepEqual(await walk(harness, (after) => ({ subject: 's', limit: 3, ...after })), ids)
    const walked = await walk(harness, (after) => ({ pending: true, limit: 3, ...after }))
    assert.deepEqual(walked.slice(0, 6), pending)
    assert.equal(walked.length, 8)
  },

  async 'an edit increases updatedAt even within one millisecond'(harness) {
    const id = await harness.alarm({ every: '1h' })
    const seen = [(await harness.get(id)).alarm.updatedAt]
    for (const verb of [pause, resume, skipNext, VERBS.amend!]) {
      await harness.edit(id, verb)
      seen.push((await harness.get(id)).alarm.updatedAt)
    }
    assert.ok(
      seen.every((at, i) => i === 0 || at > seen[i - 1]!),
      seen.join(' '),
    )
  },

  async 'an edit answers with the alarm as it is stored after the edit'(harness) {
    const leases = await harness.heartbeat()
    const edits: [Verb, State][] = [
      [pause, 'paused'],
      [resume, 'active'],
      [skipNext, 'active'],
      [VERBS.amend!, 'active'],
      [fireNow, 'active'],
      [VERBS.reschedule!, 'active'],
      [VERBS.cancel!, 'cancelled'],
    ]
    const firing = await harness.alarm({ every: '1h' }, { label: 'in flight' })
    harness.clock.step(3_600_000)
    await harness.claim(leases)
    const quiet = await harness.alarm({ every: '1h' })
    for (const [verb, state] of edits) await assertAnswersAfter(harness, quiet, verb, state)
    // What is in flight stays, marked as edited.
    for (const verb of [VERBS.amend!, VERBS.reschedule!])
      await assertAnswersAfter(harness, firing, verb, 'active')
    const failed = await harness.alarm({ delay: '1s' }, { maxFailures: 1 })
    harness.clock.step(1000)
    const claimed = await harness.claim(leases)
    await harness.settle(
      claimed.timers.filter(({ alarm }) => alarm.id === failed),
      'failed',
    )
    await assertAnswersAfter(harness, failed, retry, 'active')
    await assertAnswersAfter(harness, failed, VERBS.cancel!, 'cancelled')
  },

  async 'an edit’s answer does not show an edit that comes after it'(harness) {
    const id = await harness.alarm({ every: '1h' }, { label: 'first' })
    const relabel = (label: string) => (found: Snapshot) => ({
      change: amend(found, { label }, harness.context()),
      answer: found.alarm.label,
    })
    const labels = ['a', 'b', 'c', 'd']
    const edited = await Promise.all(
      labels.map((label) => harness.store.edit(ANN, { id }, relabel(label), harness.context())),
    )
    const answers = edited.map(({ results }) => results[0]!)
    assert.deepEqual(
      answers.map(({ snapshot }) => snapshot.alarm.label),
      labels,
    )
    // Each saw exactly one other edit, or the first label: they happened one after the other.
    assert.equal(new Set(answers.map(({ answer }) => answer)).size, labels.length)
  },

  async 'a paused alarm is not claimed; a recurring one logs what it skipped when it resumes'(harness) {
    const leases = await harness.heartbeat()
    const once = await harness.alarm({ delay: '1m' })
    const recurring = await harness.alarm({ every: '10m' })
    for (const id of [once, recurring]) await harness.edit(id, pause)
    harness.clock.step(35 * 60_000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    for (const id of [once, recurring]) await harness.edit(id, resume)
    const claimed = await harness.claimOne(leases)
    assert.equal(claimed.alarm.id, once)
    await harness.settle(claimed, 'delivered')
    const skipped = (await harness.events(recurring)).find(({ type }) => type === 'alarm.skipped')!
    const { reason, count } = JSON.parse(skipped.data)
    assert.deepEqual({ reason, count }, { reason: 'paused', count: 3 })
    assert.equal((await harness.get(recurring)).timers[0]!.wakeAt, harness.now + 5 * 60_000)
  },

  async 'a rescheduled alarm fires at its new time only'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1m' })
    const first = harness.now + 120_000
    await harness.edit(id, (snapshot, context) => {
      const rule = { kind: 'once' as const, at: first, timezone: 'UTC' }
      return replace(snapshot, { alarm: { ...snapshot.alarm, rule }, first }, 'reschedule', context)
    })
    harness.clock.step(60_000)
    assert.deepEqual((await harness.claim(leases)).timers, [])
    harness.clock.step(60_000)
    assert.equal((await harness.claimOne(leases)).timer.scheduledFor, first)
  },

  async 'an alarm whose target moves to another pool is run by that pool'(harness) {
    const id = await harness.alarm({ delay: '1m' })
    const target = { kind: 'handler', name: 'other', pool: 'elsewhere' }
    await harness.edit(id, (snapshot, context) => amend(snapshot, { target }, context))
    harness.clock.step(60_000)
    assert.deepEqual((await harness.claim(await harness.heartbeat('one', ['app']))).timers, [])
    assert.equal(
      (await harness.claimOne(await harness.heartbeat('one', ['elsewhere']))).alarm.target.name,
      'other',
    )
  },

  async 'a forced occurrence has its own id and does not replace the rule’s next one'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ every: '1h' })
    harness.clock.step(3_600_000)
    await harness.edit(id, fireNow)
    const { timers: claimed } = await harness.claim(leases)
    assert.equal(new Set(claimed.map(({ alarm, timer }) => occurrenceId(alarm, timer))).size, 2)
    await harness.settle(claimed, 'delivered')
    assert.deepEqual(await harness.types(id), ['alarm.rescheduled', 'alarm.fired', 'alarm.fired'])
    assert.equal((await harness.get(id)).timers.length, 1)
  },

  async 'a failed alarm is retried as a new occurrence with all its attempts'(harness) {
    const leases = await harness.heartbeat()
    const id = await harness.alarm({ delay: '1s' }, { maxFailures: 1 })
    harness.clock.step(1000)
    const first = await harness.claimOne(leases)
    await harness.settle(first, 'failed')
    await harness.edit(id, retry)
    const second = await harness.claimOne(leases)
    assert.notEqual(occurrenceId(first.alarm, first.timer), occurrenceId(second.alarm, second.timer))
    await harness.settle(second, 'delivered')
    assert.equal(await harness.state(id), 'fired')
  },
})

const changeNothing = () => ({ change: {}, answer: null })
const nameIt = ({ alarm }: Snapshot) => ({ change: {}, answer: alarm.id })

async function assertAnswersAfter(harness: Harness, id: string, verb: Verb, state: State): Promise<void> {
  const context = harness.context()
  const decide = (found: Snapshot) => ({ change: verb(found, context), answer: null })
  const { results } = await harness.store.edit(ANN, { id }, decide, context)
  const { snapshot } = results[0]!
  const stored = await harness.get(id)
  assert.deepEqual({ ...snapshot.alarm }, { ...stored.alarm })
  assert.deepEqual(snapshot.outcome, stored.outcome)
  assert.deepEqual(snapshot.timers.map(withoutRow), stored.timers.map(withoutRow))
  assert.equal(stateOf(snapshot.alarm, snapshot.timers, snapshot.outcome), state)
}

/** A store numbers its rows as it likes. */
function withoutRow({ id, shard, ...timer }: Timer): object {
  return timer
}

async function many(harness: Harness, count: number, options: { subject: string }): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await harness.alarm({ delay: '1h' }, options))
  return ids
}

/** Walks a selection piece by piece, each no longer than asked. */
async function walk(harness: Harness, which: (after: { after?: Serial }) => Selector): Promise<string[]> {
  const ids: string[] = []
  for (let next: Serial | null = 0; next !== null; ) {
    const edited: EditResult<string> = await harness.store.edit(
      ANN,
      which({ after: next }),
      nameIt,
      harness.context(),
    )
    assert.ok(edited.results.length <= 3)
    ids.push(...edited.results.map(({ answer }) => answer))
    next = edited.next
  }
  return ids
}
