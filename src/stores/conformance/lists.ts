import assert from 'node:assert/strict'
import { pause, type SetOptions, type Snapshot, STATES, type State, stateOf } from '../../alarm/index.ts'
import { PAGE_BYTES_MAX } from '../page-size.ts'
import type { ListPosition, ListQuery } from '../store.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'
import { everyAlarm } from './invariants.ts'

type Filter = Omit<ListQuery, 'order' | 'limit' | 'after'>

/** Lists: every filter, in both orders, page by page. */
export const listCases = casesOf('lists', {
  async 'every filter returns what matches and nothing else, newest first'(harness) {
    const { all, middle } = await populate(harness)
    for (const filter of filters(middle)) {
      const expected = all.filter((each) => fits(each, filter))
      for (const limit of [1, 4, 50])
        assert.deepEqual(
          await ids(harness, { ...filter, order: 'newest', limit }),
          names(expected),
          JSON.stringify(filter),
        )
    }
  },

  async 'due order has each alarm that will fire once, at its next instant'(harness) {
    const { all, middle } = await populate(harness)
    for (const filter of filters(middle)) {
      const expected = all.filter((each) => wake(each) !== null && fits(each, filter))
      for (const limit of [1, 4, 50]) {
        const listed = await ids(harness, { ...filter, order: 'due', limit })
        const wakes = listed.map((id) => wake(all.find(({ alarm }) => alarm.id === id)!)!)
        assert.equal(new Set(listed).size, listed.length, 'each alarm is listed once')
        assert.deepEqual(new Set(listed), new Set(names(expected)), JSON.stringify(filter))
        assert.deepEqual(
          wakes,
          [...wakes].sort((a, b) => a - b),
        )
      }
    }
  },

  async 'an alarm without a correlation id is found by its own id, with those that name it'(harness) {
    const first = await harness.alarm({ delay: '1h' })
    const others: string[] = []
    for (let i = 0; i < 5; i++) others.push(await harness.alarm({ delay: '1h' }, { correlationId: first }))
    const alone = await harness.alarm({ delay: '1h' })
    await harness.alarm({ delay: '1h' }, { correlationId: first }, OTHERS[0]!)
    for (const limit of [1, 2, 50]) {
      const listed = (correlationId: string) => ids(harness, { correlationId, order: 'newest', limit })
      assert.deepEqual(await listed(first), [...others.toReversed(), first])
      assert.deepEqual(await listed(alone), [alone])
      assert.deepEqual(await listed(others[0]!), [])
    }
  },

  async 'lists only the owner’s own alarms (isolated)'(harness) {
    await populate(harness)
    for (const other of OTHERS) {
      for (const order of ['newest', 'due'] as const)
        assert.deepEqual(await ids(harness, { order, limit: 5 }, other), [])
      assert.deepEqual(await harness.store.stats(other), NO_FIGURES)
    }
  },

  async 'a page ends at its content limit, and the next continues there'(harness) {
    const payload = 'x'.repeat(200_000)
    for (let i = 0; i < 45; i++)
      await harness.alarm({ delay: `${i + 1}h` }, { payload: i % 9 === 4 ? i : payload, label: 'large' })
    for (const order of ['newest', 'due'] as const)
      for (const filter of [{}, { label: 'large' }]) {
        const pages = await pagesOf(harness, { ...filter, order, limit: 50 })
        for (const page of pages) {
          const bytes = page.reduce((sum, { alarm }) => sum + alarm.payload!.length, 0)
          assert.ok(bytes <= PAGE_BYTES_MAX + payload.length, `a page of ${bytes} bytes`)
        }
        assert.equal(pages.length, 2)
        assert.equal(new Set(names(pages.flat())).size, 45)
      }
  },

  async 'an alarm set between two pages neither repeats nor hides others'(harness) {
    for (let i = 0; i < 9; i++) await harness.alarm({ delay: `${i + 1}h` })
    for (const order of ['newest', 'due'] as const) {
      const before = await ids(harness, { order, limit: 50 })
      const first = await harness.store.list(ANN, { order, limit: 4 })
      await harness.alarm({ delay: '30m' })
      const rest = await ids(harness, { order, limit: 4, after: first.next! })
      assert.deepEqual([...names(first.items), ...rest], before)
    }
  },
})

const NO_FIGURES = {
  total: 0,
  pending: 0,
  fired: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  timedOut: 0,
  avgDurationMs: null,
}

function filters(since: number): Filter[] {
  const one: Filter[] = [
    {},
    ...STATES.map((state) => ({ states: [state] })),
    { states: ['active', 'paused'] },
    { states: ['failed', 'timed_out', 'awaiting'] },
    { label: 'odd' },
    { label: '' },
    { subject: 's1' },
    { correlationId: 'c2' },
    { conversationId: 'v0' },
    { target: 'beta' },
    { target: 'nobody' },
    { text: 'ODD  water' },
    { text: '100%_' },
    { since },
  ]
  const both = one.flatMap((filter) => [
    { ...filter, target: 'alpha' },
    { ...filter, states: ['active', 'fired', 'failed'] satisfies State[] },
    { ...filter, subject: 's0', since },
  ])
  return [...one, ...both]
}

function fits({ alarm, timers, outcome }: Snapshot, filter: Filter): boolean {
  const words = filter.text?.toLowerCase().split(/\s+/) ?? []
  const text = [alarm.label, alarm.message, alarm.key, alarm.subject].join(' ').toLowerCase()
  return (
    (filter.states === undefined || filter.states.includes(stateOf(alarm, timers, outcome))) &&
    (filter.label === undefined || alarm.label === filter.label) &&
    (filter.subject === undefined || alarm.subject === filter.subject) &&
    (filter.correlationId === undefined || alarm.correlationId === filter.correlationId) &&
    (filter.conversationId === undefined || alarm.conversationId === filter.conversationId) &&
    (filter.target === undefined || alarm.target.name === filter.target) &&
    (filter.since === undefined || alarm.createdAt >= filter.since) &&
    words.every((word) => text.includes(word))
  )
}

/** Alarms in every state, with every combination of names; answers them newest first. */
async function populate(harness: Harness): Promise<{ all: Snapshot[]; middle: number }> {
  const leases = await harness.heartbeat()
  let middle = 0
  for (let i = 0; i < 36; i++) {
    const id = await harness.alarm(i % 5 === 0 ? { every: '1h' } : { delay: `${1 + (i % 3)}s` }, optionsOf(i))
    if (i % 9 === 0) await harness.edit(id, pause)
    if (i % 8 === 1) await harness.cancel(id)
    if (i === 18) middle = harness.now
    harness.clock.step(7)
  }
  harness.clock.step(3000)
  const { timers: claimed } = await harness.claim(leases)
  for (const [i, each] of claimed.entries()) await harness.settle(each, i % 3 === 0 ? 'failed' : 'delivered')
  harness.clock.step(60_000)
  // The reports of some are overdue now, and those whose tries are left are in flight again.
  await harness.settle((await harness.claim(leases)).timers, 'delivered')
  for (let i = 0; i < 6; i++) await harness.alarm({ delay: '1h' }, optionsOf(i))
  const all = await everyAlarm(harness, ANN)
  assert.equal(all.length, 42)
  const states = new Set(all.map(({ alarm, timers, outcome }) => stateOf(alarm, timers, outcome)))
  for (const state of ['active', 'paused', 'awaiting', 'fired', 'failed', 'timed_out', 'cancelled'] as const)
    assert.ok(states.has(state), `one should be ${state}`)
  return { all, middle }
}

function optionsOf(i: number): SetOptions {
  return {
    label: i % 2 === 0 ? 'odd' : '',
    message: i % 3 === 0 ? 'Water the plants, 100%_ surely' : '',
    subject: `s${i % 4}`,
    correlationId: `c${i % 6}`,
    conversationId: i % 5 === 0 ? '' : `v${i % 2}`,
    target: i % 2 === 0 ? 'alpha' : 'beta',
    ack: i % 4 === 2 ? 'report' : 'delivery',
    completionTimeout: i % 8 === 2 ? '30s' : '2h',
    maxFailures: 1 + (i % 2),
  }
}

function wake({ timers }: Snapshot): number | null {
  const wakes = timers.flatMap(({ kind, wakeAt }) => (kind === 'report' ? [] : (wakeAt ?? [])))
  return wakes.length === 0 ? null : Math.min(...wakes)
}

/** The ids of a whole list, read page by page; no page is longer than asked. */
async function ids(harness: Harness, query: ListQuery, scope = ANN): Promise<string[]> {
  return names((await pagesOf(harness, query, scope)).flat())
}

async function pagesOf(harness: Harness, query: ListQuery, scope = ANN): Promise<(readonly Snapshot[])[]> {
  const pages: (readonly Snapshot[])[] = []
  let after: ListPosition | undefined = query.after
  for (;;) {
    const page = await harness.store.list(scope, { ...query, after })
    assert.ok(page.items.length <= query.limit)
    pages.push(page.items)
    if (page.next === null) return pages
    after = page.next
  }
}

function names(all: readonly Snapshot[]): string[] {
  return all.map(({ alarm }) => alarm.id)
}
