import assert from 'node:assert/strict'
import { type Bucket, bucketOfAlarm, isEnd, type Scope, type Snapshot, stateOf } from '../../alarm/index.ts'
import type { LogEvent } from '../event-log.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

/** The events that end an occurrence, and those of its report: at most one of each. */
const ENDS = ['alarm.fired', 'alarm.skipped', 'schedule.ticked', 'timer.due_time_reached']
const JUDGEMENTS = ['alarm.completed', 'alarm.timed_out', 'alarm.failed']

/** Checks what is true of every store at any time. */
export async function assertInvariants(harness: Harness): Promise<void> {
  for (const scope of [ANN, ...OTHERS]) {
    const all = await everyAlarm(harness, scope)
    await assertFigures(harness, scope, all)
    for (const snapshot of all) assertTimers(snapshot)
    assertRecordedOnce(await harness.events(undefined, scope))
  }
}

/** Reads all of one owner's alarms, page by page. */
export async function everyAlarm(harness: Harness, scope: Scope): Promise<Snapshot[]> {
  const all: Snapshot[] = []
  let page = await harness.store.list(scope, { order: 'newest', limit: 50 })
  all.push(...page.items)
  while (page.next !== null) {
    page = await harness.store.list(scope, { order: 'newest', limit: 50, after: page.next })
    all.push(...page.items)
  }
  return all
}

/** The tallies must equal a recount. */
async function assertFigures(harness: Harness, scope: Scope, all: readonly Snapshot[]): Promise<void> {
  const counted: Record<Bucket, number> = {
    pending: 0,
    fired: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    timed_out: 0,
  }
  for (const { alarm, timers, outcome } of all) counted[bucketOfAlarm(alarm, timers, outcome)] += 1
  const { total, avgDurationMs, timedOut, ...stats } = await harness.store.stats(scope)
  const figures = { ...stats, timed_out: timedOut }
  if (harness.hasPruned) {
    assert.deepEqual(
      [figures.pending, figures.fired],
      [counted.pending, counted.fired],
      'figures of the living',
    )
    return
  }
  await assertFailures(harness, scope, all, counted)
  assert.deepEqual(figures, counted, 'the figures equal a recount')
  assert.equal(total, all.length, 'the total equals a recount')
  assert.ok(avgDurationMs === null || avgDurationMs >= 0, 'no duration is negative')
}

/** The list of failures has every alarm that counts as one, and the occurrences of recurring alarms that are counted by themselves. */
async function assertFailures(
  harness: Harness,
  scope: Scope,
  all: readonly Snapshot[],
  counted: Record<Bucket, number>,
) {
  const { items } = await harness.store.failures(scope, { limit: 500 })
  for (const kind of ['failed', 'timed_out'] as const) {
    const listed = items.filter(({ record }) => record.failure === kind)
    const ids = new Set(listed.map(({ snapshot }) => snapshot.alarm.id))
    const ended = all.filter(({ alarm, timers, outcome }) => bucketOfAlarm(alarm, timers, outcome) === kind)
    const missing = ended.filter(({ alarm }) => !ids.has(alarm.id)).map(({ alarm }) => alarm.id)
    assert.deepEqual(missing, [], `listed: ${kind}`)
    counted[kind] = listed.length
  }
}

/** A live alarm has a timer, or it would be lost; an ended one has none, or it would fire again. */
function assertTimers({ alarm, timers, outcome }: Snapshot): void {
  const state = stateOf(alarm, timers, outcome)
  const current = timers.filter((timer) => timer.generation === alarm.generation)
  if (isEnd(state)) assert.equal(current.length, 0, `an alarm that is ${state} has no timers`)
  else assert.ok(current.length > 0, `an alarm that is ${state} has a timer`)
  const due = current.filter((timer) => timer.kind === 'due')
  assert.ok(due.length <= 1, 'an alarm has at most one timer for its next occurrence')
  const queued = due.some((timer) => timer.waiting === 'overlap' && timer.wakeAt === null)
  assert.ok(!queued || current.length > 1, 'what is queued waits for an occurrence that is open')
}

/**
 * Promise: recorded-once. A delivery that a report calls failed may be retried and then ends again; nothing else may.
 */
function assertRecordedOnce(events: readonly LogEvent[]): void {
  const named = events.filter(({ occurrenceId }) => occurrenceId !== null)
  for (const [occurrence, records] of Map.groupBy(named, ({ occurrenceId }) => occurrenceId!)) {
    const types = records.map(({ type }) => type)
    const story = `${occurrence}: ${types.join(', ')}`
    let ends = 0
    for (const type of types) {
      if (type === 'alarm.attempt_failed') ends = 0
      else if (ENDS.includes(type)) ends += 1
      assert.ok(ends <= 1, `an occurrence ended twice: ${story}`)
    }
    assert.ok(types.filter((type) => JUDGEMENTS.includes(type)).length <= 1, `judged twice: ${story}`)
  }
}
