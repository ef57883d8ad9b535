import { execFile } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Alarms } from '../../src/index.ts'
import { openTest, VirtualClock } from '../../src/testing/index.ts'
import { newPath } from './actors.ts'

const eventsOf = (alarms: Alarms) => Array.fromAsync(alarms.events())
const typesOf = async (alarms: Alarms) => (await eventsOf(alarms)).map(({ type }) => type)

/** A promise that a handler waits on. */
const deferred = () => Promise.withResolvers<void>()

describe('what a handler throws', () => {
  test('an error whose message is an object delays nothing else', async () => {
    const clock = new VirtualClock()
    const store = newPath()
    const errors: unknown[] = []
    const counts = { good: 0, tick: 0 }
    const running = async () => {
      const bench = await openTest({ clock, store, onError: (thrown) => errors.push(thrown) })
      bench.wakeful.handle('bad', () => {
        throw Object.assign(new Error('x'), { message: { code: 1 } })
      })
      bench.wakeful.handle('good', () => void counts.good++)
      bench.wakeful.handle('tick', () => void counts.tick++)
      await bench.wakeful.start()
      return bench
    }
    {
      await using bench = await running()
      const { wakeful } = bench
      await wakeful.set({ every: '1m' }, { target: 'tick' })
      const bad = await wakeful.set({ delay: '30s' }, { target: 'bad', maxFailures: 1 })
      await clock.advance('90s')
      await wakeful.setMany(Array.from({ length: 20 }, () => ({ when: { delay: '1s' }, target: 'good' })))
      await clock.advance('4m')
      expect(counts).toEqual({ good: 20, tick: 5 })
      expect(await wakeful.stats()).toMatchObject({ pending: 1, completed: 20, failed: 1 })
      expect(await wakeful.get(bad.id)).toMatchObject({ status: 'failed', lastError: expect.any(String) })
    }
    await using _again = await running()
    await clock.advance('10s')
    expect(counts.good).toBe(20)
    expect(errors).toEqual([])
  })

  test.each<[string, () => unknown]>([
    ['an object without a prototype', () => Object.create(null)],
    ['a proxy that traps', () => new Proxy({}, { getPrototypeOf: trap })],
    [
      'an error whose message cannot be read',
      () => Object.defineProperty(new Error(), 'message', { get: trap }),
    ],
    ['an object whose text cannot be made', () => ({ toString: trap })],
    ['nothing', () => undefined],
    ['a symbol', () => Symbol('s')],
  ])('%s ends as a failed attempt, and rejects nowhere', async (_, thing) => {
    const unhandled: unknown[] = []
    const note = (thrown: unknown) => unhandled.push(thrown)
    process.on('unhandledRejection', note)
    try {
      const errors: unknown[] = []
      await using bench = await openTest({ onError: (thrown) => errors.push(thrown) })
      const { wakeful, clock } = bench
      wakeful.handle('bad', () => {
        throw thing()
      })
      wakeful.handle('good', () => {})
      await wakeful.start()
      const bad = await wakeful.set({ delay: '1s' }, { target: 'bad', maxFailures: 1 })
      const good = await wakeful.set({ delay: '2s' }, { target: 'good' })
      await clock.advance('3s')
      expect(await wakeful.get(bad.id)).toMatchObject({ status: 'failed', failureCount: 1 })
      expect((await wakeful.get(good.id))?.status).toBe('fired')
      expect([...errors, ...unhandled]).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})

describe('an alarm changed in flight', () => {
  test.each(['edit', 'key'] as const)('to another pool is started once (by %s)', async (how) => {
    const clock = new VirtualClock()
    const store = newPath()
    await using one = await openTest({ clock, store, pool: 'one' })
    await using two = await openTest({ clock, store, pool: 'two' })
    const starts: string[] = []
    const pending = deferred()
    one.wakeful.handle('work', async ({ payload }) => {
      starts.push(`one: ${payload}`)
      await pending.promise
    })
    two.wakeful.handle('work', ({ payload }) => void starts.push(`two: ${payload}`))
    await one.wakeful.start()
    await two.wakeful.start()
    const work = { target: 'work', key: 'k', payload: 'old' }
    const { id } = await one.wakeful.set({ delay: '1s' }, work)
    await clock.advance('2s')
    const target = { handler: 'work', pool: 'two' }
    if (how === 'edit') await one.wakeful.edit(id, { target })
    else await one.wakeful.set({ delay: '1m' }, { target, key: 'k', payload: 'new' })
    await clock.advance('5s')
    pending.resolve()
    await clock.advance('5s')
    expect(starts).toEqual(['one: old'])
    await clock.advance('2m')
    expect(starts).toEqual(how === 'edit' ? ['one: old'] : ['one: old', 'two: new'])
    const fired = (await eventsOf(one.wakeful)).filter(({ type }) => type === 'alarm.fired')
    expect(fired).toHaveLength(starts.length)
    expect(new Set(fired.map(({ occurrenceId }) => occurrenceId)).size).toBe(starts.length)
  })

  test('is listed under its new target when it has ended', async () => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    const pending = deferred()
    wakeful.handle('old', () => pending.promise)
    await wakeful.start()
    const { id } = await wakeful.set({ delay: '1s' }, { target: 'old' })
    await clock.advance('2s')
    await wakeful.edit(id, { target: 'new', maxFailures: 1 })
    pending.resolve()
    await clock.advance('1s')
    expect(await wakeful.get(id)).toMatchObject({ status: 'fired', target: 'new' })
    const ids = (items: readonly { id: string }[]) => items.map((item) => item.id)
    expect(ids((await wakeful.list({ target: 'new' })).items)).toEqual([id])
    expect(ids((await wakeful.list({ target: 'old' })).items)).toEqual([])
    expect(ids(await wakeful.history({ target: 'new' }))).toEqual([id])
    expect(ids(await wakeful.history({ target: 'old' }))).toEqual([])
  })
})

describe('after downtime', () => {
  test('a missed recurring occurrence without a handler waits, uncounted, and fires once it is registered', async () => {
    const clock = new VirtualClock()
    const store = newPath()
    const before = await openTest({ clock, store })
    const rule = await before.wakeful.set({ every: '1m' }, { target: 'late', maxFailures: 1 })
    const once = await before.wakeful.set({ delay: '1m' }, { target: 'late', maxFailures: 1 })
    await before.close()
    await clock.advance('10m')
    await using bench = await openTest({ clock, store })
    const { wakeful } = bench
    await wakeful.start()
    await clock.advance('1s')
    expect(await wakeful.get(rule.id)).toMatchObject({
      status: 'active',
      failureCount: 0,
      attempts: 0,
      lastError: null,
    })
    expect((await wakeful.why(rule.id)).next).toContain('waits, uncounted')
    expect((await wakeful.why(once.id)).next).toContain('waits, uncounted')
    expect(await typesOf(wakeful)).toEqual(['alarm.skipped'])
    const delivered: string[] = []
    wakeful.handle('late', ({ alarm }) => void delivered.push(alarm.id))
    await clock.advance('1s')
    expect(delivered.toSorted()).toEqual([rule.id, once.id].toSorted())
  })

  test.each(['skip', 'queue'] as const)('one occurrence is open at a time (overlap %s)', async (overlap) => {
    const clock = new VirtualClock()
    const store = newPath()
    let delivered = 0
    const running = async () => {
      const bench = await openTest({ clock, store })
      bench.wakeful.handle('ask', () => void delivered++)
      await bench.wakeful.start()
      return bench
    }
    const before = await running()
    const options = { target: 'ask', ack: 'report', overlap, completionTimeout: '1h' } as const
    const { id } = await before.wakeful.set({ every: '1m' }, options)
    await clock.advance('90s')
    await before.close()
    await clock.advance('10m')
    await using bench = await running()
    await clock.advance('5s')
    expect(delivered).toBe(1)
    await bench.wakeful.complete(id)
    await clock.advance('1m')
    expect(delivered).toBe(2)
    await clock.advance('5m')
    expect(delivered).toBe(2)
  })
})

test.each(['cancel', 'reschedule', 'reschedule in flight', 'set again in flight, which then fails'] as const)(
  'a failed report leaves one record of delivery, whatever follows (%s)',
  async (how) => {
    await using bench = await openTest()
    const { wakeful, clock } = bench
    let pending: ReturnType<typeof deferred> | null = null
    wakeful.handle('ask', () => pending?.promise)
    await wakeful.start()
    const options = { target: 'ask', ack: 'report', key: 'k', backoff: { baseMs: 1_000 } } as const
    const { id } = await wakeful.set({ delay: '1m' }, options)
    await clock.advance('61s')
    await wakeful.fail(id, 'no')
    if (how === 'cancel') await wakeful.cancel(id)
    else if (how === 'reschedule') await wakeful.reschedule(id, { delay: '1h' })
    else {
      pending = deferred()
      await clock.advance('5s')
      if (how === 'reschedule in flight') await wakeful.reschedule(id, { delay: '1h' })
      else await wakeful.set({ delay: '1h' }, { target: 'ask', key: 'k' })
      if (how === 'reschedule in flight') pending.resolve()
      else pending.reject(new Error('no'))
      await clock.advance('1s')
    }
    const ofOccurrence = (await eventsOf(wakeful)).filter(({ occurrenceId }) => occurrenceId !== null)
    expect(ofOccurrence.map(({ type }) => type)).toEqual(['alarm.fired', 'alarm.attempt_failed'])
  },
)

test('an idempotency key is remembered when its alarm was set again under another', async () => {
  await using bench = await openTest()
  const { wakeful } = bench
  const set = (idempotencyKey: string) =>
    wakeful.set({ delay: '1h' }, { target: 'work', key: 'k', idempotencyKey, payload: idempotencyKey })
  const { id } = await set('A')
  await set('B')
  expect(await set('A')).toMatchObject({ id, deduped: true })
  expect((await wakeful.get(id))?.payload).toBe('B')
})

test('a completion timeout beyond the largest instant is rejected, in a set and in an edit', async () => {
  await using bench = await openTest()
  const { wakeful } = bench
  const fields = { target: 'work', ack: 'report', completionTimeout: '520000w' } as const
  await expect(wakeful.set({ delay: '1h' }, fields)).rejects.toMatchObject({ code: 'invalid_request' })
  const { id } = await wakeful.set({ delay: '1h' }, { target: 'work' })
  await expect(wakeful.edit(id, fields)).rejects.toMatchObject({ code: 'invalid_request' })
})

describe('a damaged row', () => {
  async function onFile() {
    const path = newPath()
    const errors: unknown[] = []
    const bench = await openTest({ store: path, onError: (thrown) => errors.push(thrown) })
    const db = new DatabaseSync(path)
    const dispose = async () => {
      db.close()
      await bench.close()
    }
    return { ...bench, db, errors, [Symbol.asyncDispose]: dispose }
  }

  test.each(['{', '"x"', '{"kind":1}'])(
    'with the on_failure %s is quarantined, and others fire',
    async (damage) => {
      await using bench = await onFile()
      const { wakeful, clock, db, errors } = bench
      const fired: string[] = []
      wakeful.handle('work', ({ alarm }) => void fired.push(alarm.id))
      await wakeful.start()
      const bad = await wakeful.set({ delay: '1m' }, { target: 'work', onFailure: 'work' })
      const good = await wakeful.set({ delay: '1m' }, { target: 'work' })
      db.prepare('UPDATE wakeful_alarms SET on_failure = ? WHERE id = ?').run(damage, bad.id)
      await clock.advance('2m')
      expect(fired).toEqual([good.id])
      expect(
        db.prepare('SELECT status, last_error FROM wakeful_outcomes WHERE status = ?').all('failed'),
      ).toEqual([{ status: 'failed', last_error: expect.stringContaining('quarantined') }])
      expect(errors).toEqual([])
    },
  )

  test('that awaits its report counts as failed only', async () => {
    await using bench = await onFile()
    const { wakeful, clock, db } = bench
    wakeful.handle('ask', () => {})
    await wakeful.start()
    await wakeful.set({ delay: '1s' }, { target: 'ask', ack: 'report', completionTimeout: '1m' })
    await clock.advance('2s')
    db.exec("UPDATE wakeful_alarms SET rule = 'x'")
    await clock.advance('2m')
    const none = { pending: 0, fired: 0, completed: 0, cancelled: 0 }
    expect(await wakeful.stats()).toMatchObject({ ...none, total: 1, failed: 1 })
  })

  test('that is repaired and retried continues with its rule', async () => {
    await using bench = await onFile()
    const { wakeful, clock, db } = bench
    let fired = 0
    wakeful.handle('tick', () => void fired++)
    await wakeful.start()
    const { id } = await wakeful.set({ every: '1m' }, { target: 'tick' })
    const { rule } = db.prepare('SELECT rule FROM wakeful_alarms').get() as { rule: string }
    db.exec("UPDATE wakeful_alarms SET rule = 'x'")
    await clock.advance('61s')
    db.prepare('UPDATE wakeful_alarms SET rule = ?').run(rule)
    expect((await wakeful.get(id))?.status).toBe('failed')
    await wakeful.retry(id)
    await clock.advance('1s')
    expect(fired).toBe(1)
    await clock.advance('2m')
    expect(fired).toBe(3)
    const nextFireAt = new Date('2030-01-01T00:04:00Z')
    expect(await wakeful.get(id)).toMatchObject({ status: 'active', nextFireAt })
    expect(await wakeful.stats()).toMatchObject({ total: 1, pending: 1, failed: 0 })
  })
})

test('a transactional handler that closes its transaction fails alone, and leaves nothing written', async () => {
  const path = newPath()
  await using bench = await openTest({ store: path, defaults: { backoffBaseMs: 20 } })
  const { wakeful, clock } = bench
  const db = new DatabaseSync(path)
  db.exec('CREATE TABLE effects (x INTEGER) STRICT')
  wakeful.handle(
    'close',
    ({ tx }) => {
      const own = tx as DatabaseSync
      own.exec('INSERT INTO effects VALUES (1)')
      own.close()
    },
    { transactional: true },
  )
  const insert = ({ tx }: { tx?: unknown }) => (tx as DatabaseSync).exec('INSERT INTO effects VALUES (2)')
  wakeful.handle('write', insert, { transactional: true })
  wakeful.handle('work', () => {})
  await wakeful.start()
  const bad = await wakeful.set({ delay: '1s' }, { target: 'close', maxFailures: 2 })
  await clock.advance('1m')
  const write = await wakeful.set({ delay: '1s' }, { target: 'write' })
  const work = await wakeful.set({ delay: '1s' }, { target: 'work' })
  await clock.advance('1m')
  expect(await wakeful.get(bad.id)).toMatchObject({ status: 'failed', attempts: 2 })
  expect((await wakeful.get(write.id))?.status).toBe('fired')
  expect((await wakeful.get(work.id))?.status).toBe('fired')
  expect(db.prepare('SELECT x FROM effects').all()).toEqual([{ x: 2 }])
  db.close()
})

test.each(['start', 'tick'])('a process that closes during a %s can end', async (call) => {
  const index = new URL('../../src/index.ts', import.meta.url).href
  const program = `
    import { open } from ${JSON.stringify(index)}
    const wakeful = await open(process.argv[1], { onError: (thrown) => console.log(thrown) })
    wakeful.handle('work', () => new Promise((resolve) => setTimeout(resolve, 100)))
    await wakeful.set(new Date(), { target: 'work' })
    const going = wakeful.${call}()
    await wakeful.close()
    await going`
  const args = ['--input-type=module', '--eval', program, newPath()]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 8_000 })
  expect(stdout).toBe('')
})

function trap(): never {
  throw new Error('trapped')
}
