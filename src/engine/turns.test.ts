import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openTest, VirtualClock } from '../testing/index.ts'

const directories: string[] = []

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function newStore(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wakeful-turns-'))
  directories.push(directory)
  return join(directory, 'alarms.db')
}

const later = (clock: VirtualClock, ms: number) =>
  new Promise<void>((resolve) => void clock.setTimer(ms, resolve))

/** A timer that outlives its engine would keep the process from ending. */
async function expectNoTimers(clock: VirtualClock): Promise<void> {
  await expect(clock.until(new Promise(() => {}), '1h')).rejects.toThrow('nothing is left to wait for')
}

test('a clock started twice at once is not taken from its live owner', async () => {
  const clock = new VirtualClock()
  const store = newStore()
  await using first = await openTest({ clock, store })
  await using second = await openTest({ clock, store })
  const starts: string[] = []
  first.wakeful.handle('work', async ({ attempt }) => {
    starts.push(`first, attempt ${attempt}`)
    await later(clock, 20_000)
  })
  second.wakeful.handle('work', ({ attempt }) => void starts.push(`second, attempt ${attempt}`))
  await Promise.all([first.wakeful.start(), first.wakeful.start()])
  const { id } = await first.wakeful.set({ delay: '1s' }, { target: 'work' })
  await clock.advance('2s')
  await second.wakeful.start()
  await clock.advance('1m')
  expect([first.wakeful.isOwner, second.wakeful.isOwner]).toEqual([true, false])
  expect(starts).toEqual(['first, attempt 1'])
  expect(await first.wakeful.get(id)).toMatchObject({ status: 'fired', attempts: 1 })
})

test('two ticks at once deliver and record every occurrence once', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  const starts: string[] = []
  wakeful.handle('work', async ({ occurrence }) => {
    starts.push(occurrence.id)
    await later(clock, 20)
  })
  await wakeful.setMany(Array.from({ length: 50 }, () => ({ when: { delay: '1s' }, target: 'work' })))
  await clock.advance('1s')
  const ticks = await clock.until(Promise.all([wakeful.tick(), wakeful.tick()]))
  expect(ticks.reduce((sum, { fired }) => sum + fired, 0)).toBe(50)
  expect([starts.length, new Set(starts).size]).toEqual([50, 50])
  const fired = (await Array.fromAsync(wakeful.events())).map(({ type }) => type)
  expect(fired).toEqual(Array.from({ length: 50 }, () => 'alarm.fired'))
  expect(await wakeful.stats()).toMatchObject({ pending: 0, completed: 50 })
})

test('a close during a start leaves no timer and no owner behind', async () => {
  const clock = new VirtualClock()
  const store = newStore()
  const errors: unknown[] = []
  const { wakeful } = await openTest({ clock, store, onError: (thrown) => errors.push(thrown) })
  const ended = Promise.allSettled([wakeful.start(), wakeful.close()])
  expect((await clock.until(ended, '1m')).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  await expectNoTimers(clock)
  expect(errors).toEqual([])
  await using next = await openTest({ clock, store })
  expect((await next.wakeful.ownership()).filter(({ owner }) => owner !== null)).toEqual([])
})

test('a close during a tick lets its delivery settle: it is not delivered again', async () => {
  const clock = new VirtualClock()
  const store = newStore()
  const errors: unknown[] = []
  let starts = 0
  const { wakeful } = await openTest({ clock, store, onError: (thrown) => errors.push(thrown) })
  wakeful.handle('work', async () => {
    starts += 1
    await later(clock, 500)
  })
  const { id } = await wakeful.set({ delay: '1s' }, { target: 'work' })
  await clock.advance('1s')
  const ticked = wakeful.tick()
  await clock.advance('100ms')
  await clock.until(wakeful.close(), '1m')
  expect(await ticked).toMatchObject({ fired: 1 })
  await expectNoTimers(clock)
  expect(errors).toEqual([])
  await using next = await openTest({ clock, store })
  next.wakeful.handle('work', () => void starts++)
  expect((await next.wakeful.ownership()).filter(({ owner }) => owner !== null)).toEqual([])
  expect(await next.wakeful.tick()).toMatchObject({ fired: 0 })
  expect(starts).toBe(1)
  expect(await next.wakeful.get(id)).toMatchObject({ status: 'fired', attempts: 1 })
})

test.each(['tick', 'start'] as const)(
  "a transactional handler that waits for its own close holds it up for the drain's bound (%s)",
  async (how) => {
    const clock = new VirtualClock()
    const store = newStore()
    const errors: unknown[] = []
    const options = { clock, store, drain: '2s', onError: (thrown: unknown) => void errors.push(thrown) }
    const { wakeful } = await openTest(options)
    let from = 0
    wakeful.handle('plain', () => later(clock, 500))
    const closing = new Promise<{ closed: Promise<void> }>((resolve) => {
      const close = async () => {
        from = clock.monotonic()
        const closed = wakeful.close()
        resolve({ closed })
        await closed
      }
      wakeful.handle('close', close, { transactional: true })
    })
    const plain = await wakeful.set({ delay: '1s' }, { target: 'plain', priority: 100 })
    const close = await wakeful.set({ delay: '1s' }, { target: 'close' })
    if (how === 'start') await wakeful.start()
    await clock.advance('1s')
    const ticked = how === 'tick' ? wakeful.tick() : null
    const { closed } = await clock.until(closing, '1m')
    await clock.until(closed, '1m')
    expect(clock.monotonic() - from).toBeLessThanOrEqual(2_000)
    if (ticked !== null) expect(await clock.until(ticked, '1m')).toMatchObject({ fired: 1 })
    // Under a start, the stop settles from within the handler, which fails until its transaction is over.
    expect(errors).toEqual([])
    await expectNoTimers(clock)
    await using next = await openTest({ clock, store })
    expect(await next.wakeful.get(plain.id)).toMatchObject({ status: 'fired', attempts: 1 })
    expect(await next.wakeful.get(close.id)).toMatchObject({ status: 'active', failureCount: 0 })
  },
)

test("queued transactional handlers do not stretch a close beyond the drain's bound", async () => {
  const clock = new VirtualClock()
  const store = newStore()
  const { wakeful } = await openTest({ clock, store, drain: '1s' })
  let starts = 0
  const write = async () => {
    starts += 1
    await later(clock, 400)
  }
  wakeful.handle('write', write, { transactional: true })
  await wakeful.start()
  await wakeful.setMany(Array.from({ length: 20 }, () => ({ when: { delay: '1s' }, target: 'write' })))
  await clock.advance('1200ms')
  const from = clock.monotonic()
  await clock.until(wakeful.close(), '1m')
  expect(clock.monotonic() - from).toBeLessThanOrEqual(1_000)
  await using next = await openTest({ clock, store })
  const { completed, pending, failed } = await next.wakeful.stats()
  // The one that was broken off is still to be delivered, like those that never began.
  expect([completed, pending, failed]).toEqual([starts - 1, 20 - completed, 0])
})

test('a delivery that a stop breaks off leaves no timer behind', async () => {
  const clock = new VirtualClock()
  const { wakeful } = await openTest({ clock, store: newStore(), drain: '1s' })
  wakeful.handle('hang', () => new Promise(() => {}))
  await wakeful.start()
  await wakeful.set({ delay: '1s' }, { target: 'hang' })
  await clock.advance('2s')
  await clock.until(wakeful.close(), '1m')
  await expectNoTimers(clock)
})

test('what is queued when the wall clock is set back waits for its instant again', async () => {
  await using bench = await openTest({ concurrency: 1 })
  const { wakeful, clock } = bench
  const early: string[] = []
  let started = 0
  wakeful.handle('work', ({ firedAt, occurrence, payload }) => {
    started += 1
    if (firedAt < occurrence.scheduledFor) early.push(occurrence.id)
    if (payload === 'jump') clock.jump('-1h')
  })
  await wakeful.start()
  // Many quick ones teach the engine to take ahead.
  await wakeful.setMany(Array.from({ length: 200 }, () => ({ when: { delay: '1m' }, target: 'work' })))
  await clock.advance('2m')
  const when = { delay: '10m' }
  await wakeful.setMany([
    { when, target: 'work', payload: 'jump', priority: 100 },
    ...Array.from({ length: 20 }, () => ({ when, target: 'work' })),
  ])
  await clock.advance('11m')
  expect([started, early]).toEqual([201, []])
  await clock.advance('1h')
  expect([started, early]).toEqual([221, []])
})
