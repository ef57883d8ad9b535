import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { newPath } from './actors.ts'

let path: string
let wakeful: Wakeful
let db: DatabaseSync

beforeEach(async () => {
  path = newPath()
  wakeful = await open(path, { defaults: { backoffBaseMs: 20, backoffCapMs: 20 } })
  db = new DatabaseSync(path)
  db.exec('CREATE TABLE effects (occurrence TEXT NOT NULL) STRICT')
})

afterEach(async () => {
  db.close()
  await wakeful.close()
})

const effects = () => (db.prepare('SELECT occurrence FROM effects').all() as { occurrence: string }[]).length
const insert = (tx: unknown, text: string) =>
  (tx as DatabaseSync).prepare('INSERT INTO effects (occurrence) VALUES (?)').run(text)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function settled(id: string): Promise<string> {
  for (;;) {
    const { status } = (await wakeful.get(id))!
    if (status !== 'active') return status
    await pause(10)
  }
}

test('what a transactional handler writes commits with the settle, and not at all when it throws', async () => {
  wakeful.handle(
    'write',
    async (fire) => {
      insert(fire.tx, fire.occurrence.id)
      await pause(5)
      // Written, but not visible before the settle.
      expect(effects()).toBe(0)
      if (fire.attempt === 1) throw new Error('undone')
    },
    { transactional: true },
  )
  await wakeful.start()
  const { id } = await wakeful.set(new Date(), { target: 'write' })
  expect(await settled(id)).toBe('fired')
  expect(effects()).toBe(1)
  expect(await wakeful.get(id)).toMatchObject({ attempts: 2, failureCount: 1 })
})

test('a transactional handler that always throws leaves nothing behind', async () => {
  wakeful.handle(
    'write',
    (fire) => {
      insert(fire.tx, fire.occurrence.id)
      throw new Error('never')
    },
    { transactional: true },
  )
  await wakeful.start()
  const { id } = await wakeful.set(new Date(), { target: 'write', maxFailures: 3 })
  expect(await settled(id)).toBe('failed')
  expect(effects()).toBe(0)
})

test('a backlog of transactional handlers lets sets through', async () => {
  let begun = () => {}
  const first = new Promise<void>((resolve) => {
    begun = resolve
  })
  wakeful.handle(
    'write',
    async (fire) => {
      begun()
      insert(fire.tx, fire.occurrence.id)
      await pause(100)
    },
    { transactional: true },
  )
  await wakeful.setMany(Array.from({ length: 30 }, () => ({ when: new Date(), target: 'write' })))
  await wakeful.start()
  await first
  await wakeful.set(new Date(Date.now() + 60_000), { target: 'write' })
  const done = effects()
  console.log(`a set behind 30 transactional handlers was answered when ${done} of them were done`)
  expect(done).toBeLessThan(15)
})

test('an aborted transactional handler cannot write any more, nor into the next transaction', async () => {
  let tooLate: unknown = null
  let wrote = () => {}
  const late = new Promise<void>((resolve) => {
    wrote = resolve
  })
  wakeful.handle(
    'write',
    async (fire) => {
      const { tx } = fire
      if (fire.message === 'next') {
        insert(tx, 'next')
        await late
        return
      }
      await pause(600)
      try {
        insert(tx, 'too late')
      } catch (thrown) {
        tooLate = thrown
      }
      wrote()
    },
    { transactional: true },
  )
  await wakeful.start()
  const slow = await wakeful.set(new Date(), { target: 'write', timeout: '100ms', maxFailures: 1 })
  const next = await wakeful.set(new Date(Date.now() + 50), { target: 'write', message: 'next' })
  expect(await settled(slow.id)).toBe('failed')
  expect(await settled(next.id)).toBe('fired')
  expect(tooLate).toBeInstanceOf(Error)
  expect(db.prepare('SELECT occurrence FROM effects').all()).toEqual([{ occurrence: 'next' }])
})

test('a call that a transactional handler defers is not a call from inside it', async () => {
  const later = new Promise<unknown>((resolve) => {
    wakeful.handle(
      'write',
      () => {
        setTimeout(
          () => wakeful.set(new Date(Date.now() + 60_000), { target: 'write' }).then(resolve, resolve),
          100,
        )
      },
      { transactional: true },
    )
  })
  await wakeful.start()
  await wakeful.set(new Date(), { target: 'write' })
  expect(await later).toMatchObject({ status: 'active' })
})

test('memory does not grow with the number of transactional deliveries, and tick counts them (bounded)', async () => {
  wakeful.handle('write', (fire) => insert(fire.tx, fire.occurrence.id), { transactional: true })
  await wakeful.setMany(Array.from({ length: 50 }, () => ({ when: new Date(), target: 'write' })))
  expect((await wakeful.tick()).fired).toBe(50)
  expect(effects()).toBe(50)
})
