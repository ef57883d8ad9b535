import { expect, onTestFinished, test } from 'vitest'
import type { Snapshot } from '../../src/alarm/index.ts'
import { ANN } from '../../src/stores/conformance/harness.ts'
import { Session } from '../../src/stores/postgres/connection/session.ts'
import * as sql from '../../src/stores/postgres/sql/queries.ts'
import { testDatabase } from './database.ts'
import { postgresBench } from './harness.ts'

const { url } = testDatabase()
const ALARMS = 8
const MINUTE = 60_000

/**
 * A store with some alarms that are all changed in one commit before each of its reads. Label, attempts and number of
 * events count the changes, and the timer is a new one, that many minutes later.
 */
async function alwaysChanging() {
  const { bench, store, schema, connect } = await postgresBench(url)
  for (let i = 0; i < ALARMS; i++)
    await bench.alarm({ delay: '1h' }, { key: `k${i}`, idempotencyKey: `i${i}` })
  const ids = (await store.list(ANN, { order: 'due', limit: 50 })).items.map(({ alarm }) => alarm.id)
  const first = bench.now + 60 * MINUTE
  const other = await connect()
  const table = (name: string) => `"${schema}".${name}`
  await other.query(`INSERT INTO ${table('outcomes')} (alarm, tenant, owner, target, failure_count, attempts)
    SELECT seq, tenant, owner, target, 0, 0 FROM ${table('alarms')}`)
  let changes = 0
  const change = async () => {
    changes += 1
    await other.query(`BEGIN;
      UPDATE ${table('alarms')} SET label = '${changes}';
      UPDATE ${table('timers')} SET id = DEFAULT, wake_at = ${first + changes * MINUTE};
      UPDATE ${table('outcomes')} SET attempts = ${changes};
      INSERT INTO ${table('events')} (id, tenant, owner, type, origin, alarm, at, data)
        SELECT 'e' || seq || '-${changes}', tenant, owner, 'alarm.paused', 'caused', seq, 0, '{}' FROM ${table('alarms')};
      COMMIT`)
  }
  const { rows, row } = Session.prototype
  let turn = Promise.resolve()
  const changing = () => {
    turn = turn.then(change)
    return turn
  }
  Session.prototype.rows = async function (...statement) {
    await changing()
    return rows.apply(this, statement)
  }
  Session.prototype.row = async function (...statement) {
    await changing()
    return row.apply(this, statement)
  }
  onTestFinished(() => {
    Object.assign(Session.prototype, { rows, row })
  })
  const contents = ({ alarm, timers, outcome }: Snapshot) => {
    const minutes = timers.map(({ wakeAt }) => (wakeAt! - first) / MINUTE)
    return [Number(alarm.label), minutes, outcome?.attempts]
  }
  return { bench, store, ids, contents, changes: () => changes }
}

test('an alarm is read as one snapshot, by id and by key', async () => {
  const { store, ids, contents, changes } = await alwaysChanging()
  for (const name of [{ id: ids[0]! }, { key: 'k0' }, { idempotencyKey: 'i0' }]) {
    const before = changes()
    const [label, ...rest] = contents((await store.get(ANN, name))!)
    expect(rest).toEqual([[label], label])
    expect(label).toBeGreaterThan(before)
  }
})

test('an alarm that was set before is returned as one snapshot', async () => {
  const { bench, store, contents } = await alwaysChanging()
  const [answer] = await store.set(
    [bench.request({ delay: '1h' }, { idempotencyKey: 'i0' })],
    bench.context(),
  )
  const [label, ...rest] = contents(answer!.snapshot)
  expect([answer!.outcome, ...rest]).toEqual(['deduped', [label], label])
})

test('a page is one snapshot: nothing is torn, and no changing alarm is left out', async () => {
  const { store, ids, contents } = await alwaysChanging()
  for (const order of ['due', 'newest'] as const)
    for (const filter of [{}, { text: 'k' }, { states: ['active' as const] }]) {
      const { items, next } = await store.list(ANN, { ...filter, order, limit: 50 })
      const labels = new Set(items.map(({ alarm }) => Number(alarm.label)))
      expect(new Set(items.map(({ alarm }) => alarm.id))).toEqual(new Set(ids))
      expect([labels.size, next]).toEqual([1, null])
      for (const [label, ...rest] of items.map(contents)) expect(rest).toEqual([[label], label])
    }
})

test('an alarm and its events are read as one snapshot', async () => {
  const { store, ids, contents } = await alwaysChanging()
  const { snapshot, events } = (await store.story(ANN, ids[0]!, 1_000))!
  const [label, ...rest] = contents(snapshot)
  expect([...rest, events.length]).toEqual([[label], label, label])
})

test('concurrent readers see an edit as a whole', async () => {
  const { bench, store, peer } = await postgresBench(url)
  const other = await peer()
  const keys = Array.from({ length: ALARMS }, (_, i) => `k${i}`)
  const setTo = (minutes: number) => {
    const named = keys.map((key) => ({ key, label: String(minutes) }))
    const requests = named.map((options) => bench.request({ delay: `${minutes}m` }, options))
    return other.set(requests, bench.context())
  }
  await setTo(1)
  let isOver = false
  const editing = (async () => {
    for (let minutes = 2; minutes < 150; minutes++) await setTo(minutes)
  })().finally(() => {
    isOver = true
  })
  const isWhole = ({ alarm, timers }: Snapshot) =>
    timers.length === 1 && timers[0]!.wakeAt === bench.now + Number(alarm.label) * MINUTE
  const reading = async (read: () => Promise<readonly Snapshot[]>) => {
    while (!isOver) expect((await read()).filter(isWhole)).toHaveLength(ALARMS)
  }
  await Promise.all([
    editing,
    reading(async () => (await store.list(ANN, { order: 'due', limit: 50 })).items),
    reading(async () => (await store.list(ANN, { order: 'newest', limit: 50 })).items),
    reading(async () =>
      (await Promise.all(keys.map((key) => store.get(ANN, { key })))).map((found) => found!),
    ),
  ])
})

test('a calendar edited while a page was read is not replaced by the older version', async () => {
  const { bench, store, peer } = await postgresBench(url)
  const other = await peer()
  const calendar = { name: 'closed', dates: { '2030-01-05': 'first' }, weekend: [] }
  await store.putCalendar(ANN.tenant, calendar, bench.context())
  await store.readCalendars()
  await bench.alarm({ every: '1d', exclude: { calendars: ['closed'] } })
  const { rows } = Session.prototype
  let isEdited = false
  Session.prototype.rows = async function (written, ...values) {
    if (written === sql.calendarVersionsNamed && !isEdited) {
      isEdited = true
      await other.putCalendar(ANN.tenant, { ...calendar, dates: { '2030-01-06': 'second' } }, bench.context())
      await store.readCalendars()
    }
    return rows.call(this, written, ...values)
  }
  onTestFinished(() => {
    Session.prototype.rows = rows
  })
  const { items } = await store.list(ANN, { order: 'due', limit: 50 })
  expect(items[0]!.alarm.calendars[0]!.dates).toEqual(calendar.dates)
  expect(store.calendars(ANN.tenant)[0]!.dates).toEqual({ '2030-01-06': 'second' })
})
