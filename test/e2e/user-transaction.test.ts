import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { newPath } from './actors.ts'

let wakeful: Wakeful
let db: DatabaseSync
let fired: { message: string; late: number }[]
let onFire: () => void

beforeEach(async () => {
  const path = newPath()
  fired = []
  onFire = () => {}
  wakeful = await open(path)
  wakeful.handle('note', (fire) => {
    fired.push({ message: fire.message, late: Date.now() - fire.occurrence.scheduledFor.getTime() })
    onFire()
  })
  await wakeful.start()
  db = new DatabaseSync(path)
  db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, alarm TEXT NOT NULL) STRICT')
})

afterEach(async () => {
  db.close()
  await wakeful.close()
})

function allFired(count: number): Promise<void> {
  return new Promise((resolve) => {
    onFire = () => {
      if (fired.length >= count) resolve()
    }
    onFire()
  })
}

const soon = (ms: number) => new Date(Date.now() + ms)

test('a set in a transaction that is rolled back has no effect', async () => {
  db.exec('BEGIN IMMEDIATE')
  const { id } = await wakeful.set(soon(50), { target: 'note', message: 'undone', tx: db })
  db.prepare('INSERT INTO orders (alarm) VALUES (?)').run(id)
  db.exec('ROLLBACK')
  await wakeful.set(soon(300), { target: 'note', message: 'marker' })
  await allFired(1)
  expect(fired.map(({ message }) => message)).toEqual(['marker'])
  expect(await wakeful.get(id)).toBeNull()
  expect(await wakeful.stats()).toMatchObject({ total: 1 })
})

test('a set in a transaction that commits fires on time, although the engine scanned before the commit', async () => {
  db.exec('BEGIN IMMEDIATE')
  const { id } = await wakeful.set(soon(400), { target: 'note', message: 'kept', tx: db })
  db.prepare('INSERT INTO orders (alarm) VALUES (?)').run(id)
  await new Promise((resolve) => setTimeout(resolve, 100))
  db.exec('COMMIT')
  await allFired(1)
  console.log(`a set in a user's transaction: ${fired[0]!.late} ms after its instant`)
  expect(fired[0]!.late).toBeGreaterThanOrEqual(0)
  expect(db.prepare('SELECT alarm FROM orders').get()).toEqual({ alarm: id })
})

test('a cancel in a transaction that is rolled back has no effect, and one that commits wins', async () => {
  const [kept, gone] = await Promise.all(
    ['kept', 'gone'].map((message) => wakeful.set(soon(400), { target: 'note', message })),
  )
  db.exec('BEGIN IMMEDIATE')
  expect(await wakeful.cancel(kept!.id, { tx: db })).toMatchObject({ outcome: 'cancelled' })
  db.exec('ROLLBACK')
  db.exec('BEGIN IMMEDIATE')
  expect(await wakeful.cancel(gone!.id, { tx: db })).toMatchObject({ outcome: 'cancelled' })
  db.exec('COMMIT')
  await wakeful.set(soon(600), { target: 'note', message: 'marker' })
  await allFired(2)
  expect(fired.map(({ message }) => message)).toEqual(['kept', 'marker'])
})

test("a user's write transaction of 2 s in the same thread blocks neither the event loop nor loses a set", async () => {
  await wakeful.set(soon(200), { target: 'note', message: 'due meanwhile' })
  let turns = 0
  const pulse = setInterval(() => {
    turns += 1
  }, 10)
  db.exec('BEGIN IMMEDIATE')
  db.exec("INSERT INTO orders (alarm) VALUES ('held')")
  const sets = Promise.all(
    Array.from({ length: 20 }, (_, i) => wakeful.set(soon(100), { target: 'note', message: `m${i}` })),
  )
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const turnsWhileLocked = turns
  db.exec('COMMIT')
  await sets
  await allFired(21)
  clearInterval(pulse)
  // About 200 on a quiet machine; at most a few if a statement waited for the lock in this thread.
  expect(turnsWhileLocked).toBeGreaterThan(20)
  expect(fired).toHaveLength(21)
})
