import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { buildAlarm, DEFAULT_LIMITS, DEFAULTS, firstTimer } from '../../alarm/index.ts'
import { type Clock, resolveWhen } from '../../time/index.ts'
import { realSystem, type System } from './connection/index.ts'
import { LOG_QUERIES } from './reads/index.ts'
import * as sql from './sql/index.ts'
import { openSqliteOn } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-together-'))
afterAll(() => rmSync(folder, { recursive: true }))
const ANN = { tenant: 'acme', owner: 'ann' }
const now = Date.UTC(2030, 0, 1)
const clock: Clock = { now: () => now, monotonic: () => 0, setTimer: () => () => {}, turn: async () => {} }

/** A store with one alarm, which another process moves just before this statement is run for the first time. */
async function movedBefore(statementText: string) {
  const path = join(folder, `${crypto.randomUUID()}.db`)
  let move = () => {}
  const system: System = {
    ...realSystem,
    open(at, options) {
      const db = realSystem.open(at, options)
      const prepare = db.prepare.bind(db)
      db.prepare = (text) => {
        const statement = prepare(text)
        if (text !== statementText) return statement
        for (const way of ['get', 'all'] as const) {
          const run = statement[way].bind(statement) as (...bound: never[]) => never
          statement[way] = ((...bound: never[]) => {
            move()
            return run(...bound)
          }) as never
        }
        return statement
      }
      return db
    },
  }
  const store = await openSqliteOn(system, { path, clock })
  afterAll(() => store.close())
  const resolved = resolveWhen({ delay: '1h' }, { now, timezone: 'UTC' })
  const alarm = buildAlarm(ANN, resolved, { target: 'remind', label: 'before' }, now, {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: () => ({ kind: 'handler', name: 'remind', pool: 'app' }),
    newId: () => 'alarm-1',
  })
  await store.set([{ alarm, timer: firstTimer(alarm, resolved) }], {
    now,
    graceMs: 60_000,
    random: () => 0,
    newId: () => 'id',
  })
  let moves = 0
  move = () => {
    move = () => {}
    const other = new DatabaseSync(path)
    other.exec(`BEGIN IMMEDIATE; UPDATE wakeful_alarms SET label = 'after';
      UPDATE wakeful_timers SET wake_at = wake_at + 60000;
      INSERT INTO wakeful_events (id, tenant, owner, type, origin, alarm, at, data)
        SELECT 'e', tenant, owner, 'alarm.rescheduled', 'caused', seq, 0, '{}' FROM wakeful_alarms; COMMIT`)
    other.close()
    moves += 1
  }
  return { store, moves: () => moves }
}

const BEFORE = { alarm: { label: 'before' }, timers: [{ wakeAt: now + 3_600_000 }] }

it('reads an alarm as of one moment, though another process changes it meanwhile', async () => {
  const { store, moves } = await movedBefore(sql.timersOfAlarm)
  expect(await store.get(ANN, { id: 'alarm-1' })).toMatchObject(BEFORE)
  expect(moves()).toBe(1)
  expect(await store.get(ANN, { id: 'alarm-1' })).toMatchObject({ alarm: { label: 'after' } })
})

it('lists what another process moves meanwhile where it was', async () => {
  const { store, moves } = await movedBefore(sql.alarmBySeq)
  const { items } = await store.list(ANN, { order: 'due', limit: 10 })
  expect(items).toMatchObject([BEFORE])
  expect(moves()).toBe(1)
})

it('tells an alarm and its story as of one moment', async () => {
  const { store, moves } = await movedBefore(LOG_QUERIES.newestOfAlarm)
  expect(await store.story(ANN, 'alarm-1', 10)).toMatchObject({ snapshot: BEFORE, events: [] })
  expect(moves()).toBe(1)
})
