import { expect, test } from 'vitest'
import { type Fire, open, type Wakeful } from '../../src/index.ts'
import { testDatabase } from './database.ts'

/**
 * Three processes on one database, with concurrent sets, cancels, upserts, reports and failures, while shards are handed over.
 * No process fails, so everything must happen exactly once. The seed is printed and can be set (LOAD_SEED).
 */
const { url, client } = testDatabase()
const SEED = Number(process.env.LOAD_SEED ?? Math.floor(Math.random() * 1e9))
const LOAD_MS = 6_000
const CALLERS = 12

interface Fired {
  readonly by: number
  readonly at: number
}

class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * n)
  }
}

test('under concurrent calls each alarm ends once, alarms cancelled in time never fire, and nothing is left over', async () => {
  console.log(`LOAD_SEED=${SEED}`)
  const fires = new Map<string, Fired[]>()
  const errors: unknown[] = []
  const occurrences = new Set<string>()
  const repeated: string[] = []
  const openOne = async (by: number): Promise<Wakeful> => {
    const wakeful = await open(url, { onError: (thrown) => errors.push(thrown), drain: '5s' })
    const note = (fire: Fire) => {
      const { id } = fire.alarm
      const name = `${fire.occurrence.id} ${fire.attempt}`
      if (occurrences.has(name)) repeated.push(name)
      occurrences.add(name)
      fires.set(id, [...(fires.get(id) ?? []), { by, at: performance.now() }])
    }
    wakeful.handle('note', note)
    wakeful.handle('slow', async (fire) => {
      note(fire)
      await new Promise((resolve) => setTimeout(resolve, 30))
    })
    wakeful.handle('fails', (fire) => {
      note(fire)
      if (fire.attempt < 3) throw new Error('not yet')
    })
    await wakeful.start()
    return wakeful
  }
  const all = [await openOne(0), await openOne(1)]
  const cancelled = new Map<string, number>()
  const ended = new Set<string>()
  const set = new Set<string>()
  const start = performance.now()
  const caller = async (n: number) => {
    const chance = new Chance(SEED + n)
    while (performance.now() - start < LOAD_MS) {
      const wakeful = all[chance.below(all.length)]!
      const target = ['note', 'slow', 'fails'][chance.below(3)]!
      const delay = `${chance.below(60)}ms`
      const key = chance.below(3) === 0 ? { key: `k${chance.below(30)}` } : {}
      const alarm = await wakeful.set({ delay }, { target, backoff: { baseMs: 5 }, ...key })
      set.add(alarm.id)
      if (chance.below(3) > 0) continue
      await new Promise((resolve) => setTimeout(resolve, chance.below(60)))
      const { outcome } = await all[chance.below(all.length)]!.cancel(alarm.id)
      if (key.key !== undefined) continue
      if (outcome === 'cancelled') cancelled.set(alarm.id, performance.now())
      else if (outcome === 'ended') ended.add(alarm.id)
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, n) => caller(n))
  // Shards are handed over meanwhile.
  await new Promise((resolve) => setTimeout(resolve, LOAD_MS / 3))
  all.push(await openOne(2))
  await new Promise((resolve) => setTimeout(resolve, LOAD_MS / 3))
  const [leaver] = all.splice(0, 1)
  await leaver!.close()
  await Promise.all(callers)

  const left = async () => (await all[0]!.stats()).pending
  const end = performance.now() + 30_000
  while ((await left()) > 0 && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await left(), 'nothing is left over').toBe(0)
  console.log(`${set.size} alarms, ${occurrences.size} attempts, ${cancelled.size} cancelled in time`)
  expect(errors.map(String)).toEqual([])
  expect(repeated, 'no attempt is made twice').toEqual([])
  const late = [...cancelled].filter(([id, at]) => (fires.get(id) ?? []).some((fired) => fired.at > at))
  expect(late, 'cancel-wins').toEqual([])
  await expectOneRecordEach()
  await expectFigures(all[0]!)
  for (const wakeful of all) await wakeful.close()
  const { rows } = await client.query('SELECT count(*)::int AS n FROM wakeful.in_flight_batches')
  expect(rows, 'no batch is left in flight').toEqual([{ n: 0 }])
}, 90_000)

async function expectOneRecordEach(): Promise<void> {
  const { rows } = await client.query(`SELECT alarm, occurrence, count(*)::int AS n FROM wakeful.events
    WHERE type IN ('alarm.fired', 'alarm.failed', 'alarm.skipped') AND occurrence IS NOT NULL
    GROUP BY alarm, occurrence HAVING count(*) > 1`)
  expect(rows, 'recorded-once').toEqual([])
}

async function expectFigures(wakeful: Wakeful): Promise<void> {
  const { rows } = await client.query<{ status: string; n: number }>(
    'SELECT status, count(*)::int AS n FROM wakeful.outcomes GROUP BY status',
  )
  const counted = Object.fromEntries(rows.map(({ status, n }) => [status, n]))
  const { total, completed, cancelled, failed } = await wakeful.stats()
  expect({ completed, cancelled, failed }).toEqual({
    completed: counted.fired ?? 0,
    cancelled: counted.cancelled ?? 0,
    failed: counted.failed ?? 0,
  })
  const { rows: alarms } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM wakeful.alarms')
  expect(total).toBe(alarms[0]!.n)
}
