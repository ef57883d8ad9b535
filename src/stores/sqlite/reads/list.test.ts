import { expect, test } from 'vitest'
import { buildAlarm, DEFAULT_LIMITS, DEFAULTS, firstTimer } from '../../../alarm/index.ts'
import { type Clock, resolveWhen } from '../../../time/index.ts'
import type { ListQuery, SetRequest } from '../../index.ts'
import { realSystem, type System } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { openSqliteOn } from '../store.ts'

const ANN = { tenant: 'acme', owner: 'ann' }
const now = Date.UTC(2030, 0, 1)
const clock: Clock = { now: () => now, monotonic: () => 0, setTimer: () => () => {}, turn: async () => {} }

function request(n: number): SetRequest {
  const resolved = resolveWhen({ delay: '1h' }, { now, timezone: 'UTC' })
  const alarm = buildAlarm(ANN, resolved, { target: 'remind', label: `${n}` }, now, {
    limits: DEFAULT_LIMITS,
    defaults: DEFAULTS,
    target: () => ({ kind: 'handler', name: 'remind', pool: 'app' }),
    newId: () => `alarm-${n}`,
  })
  return { alarm, timer: firstTimer(alarm, resolved) }
}

/** A store of this many alarms of one owner, and what reading it takes. */
async function filled(alarms: number) {
  const seen = { turns: 0, whole: 0 }
  const system: System = {
    ...realSystem,
    soon(call) {
      seen.turns += 1
      realSystem.soon(call)
    },
    open(path, options) {
      const db = realSystem.open(path, options)
      const prepare = db.prepare.bind(db)
      db.prepare = (text) => {
        const statement = prepare(text)
        if (text !== sql.alarmBySeq) return statement
        const get = statement.get.bind(statement) as typeof statement.get
        statement.get = ((...bound: never[]) => {
          seen.whole += 1
          return get(...bound)
        }) as typeof statement.get
        return statement
      }
      return db
    },
  }
  const store = await openSqliteOn(system, { path: ':memory:', clock })
  const context = { now, graceMs: 60_000, random: () => 0, newId: () => 'id' }
  await store.set(
    Array.from({ length: alarms }, (_, n) => request(n)),
    context,
  )
  const look = async (query: Omit<ListQuery, 'limit'>, limit = 50) => {
    Object.assign(seen, { turns: 0, whole: 0 })
    const page = await store.list(ANN, { ...query, limit })
    return { page, ...seen }
  }
  return { store, look }
}

test('a filter that fits nothing reads no alarm whole, and lets others have their turn on the way', async () => {
  const { store, look } = await filled(3_000)
  for (const order of ['newest', 'due'] as const) {
    for (const filter of [{ text: 'zzznothing' }, { label: 'nope', target: 'remind' }]) {
      const { page, turns, whole } = await look({ order, ...filter })
      expect(page).toEqual({ items: [], next: null })
      expect({ order, whole }).toEqual({ order, whole: 0 })
      if (order === 'due' || 'text' in filter) expect(turns).toBe(12)
    }
  }
  await store.close()
})

test('a page reads no more alarms than it shows and one, and a long one is read in turns', async () => {
  const { store, look } = await filled(1_200)
  expect(await look({ order: 'newest' })).toMatchObject({ turns: 0, whole: 51 })
  expect(await look({ order: 'due', text: '7' }, 10)).toMatchObject({ whole: 11 })
  expect(await look({ order: 'newest' }, 500)).toMatchObject({ turns: 2, whole: 501 })
  await store.close()
})

test('a store that is closed while a list is read says so', async () => {
  const { store } = await filled(1_000)
  const page = store.list(ANN, { order: 'newest', text: 'zzznothing', limit: 50 })
  const refused = expect(page).rejects.toMatchObject({ code: 'store_unavailable' })
  await store.close()
  await refused
})
