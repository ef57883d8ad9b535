import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { When, WhenObject } from '../time/index.ts'
import { openTest, type TestBench } from './open-test.ts'
import { VirtualClock } from './virtual-clock.ts'

const T0 = Date.parse('2030-01-01T00:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR = 365 * DAY

interface Seen {
  readonly scheduledFor: number
  readonly firedAt: number
}

/** Runs a recurring alarm through a jump of the wall clock; answers what fired and what the log says. */
async function throughJump(when: When, jumpMs: number) {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  const seen: Seen[] = []
  wakeful.handle('tick', (fire) => {
    seen.push({ scheduledFor: fire.occurrence.scheduledFor.getTime(), firedAt: fire.firedAt.getTime() })
  })
  await wakeful.start()
  await wakeful.set(when, { target: 'tick' })
  await clock.advance('1h')
  const before = seen.length
  clock.jump(jumpMs)
  await clock.advance('1s')
  const atJump = seen.length - before
  // Long enough for a clock that was set back to get where it had been, and beyond.
  await clock.advance(Math.max(0, -jumpMs) + HOUR)
  const skipped = (await Array.fromAsync(wakeful.events())).filter(({ type }) => type === 'alarm.skipped')
  const skippedCount = skipped.reduce((sum, { data }) => sum + (data.count as number), 0)
  return { seen, before, atJump, skippedCount, end: clock.now() }
}

const TEN_MINUTES: [string, WhenObject][] = [
  ['every', { every: '10m' }],
  ['cron', { cron: '*/10 * * * *' }],
  ['cron on the wall clock of a zone', { cron: '*/10 0-23 * * *', timezone: 'Europe/Rome' }],
  ['rrule', { rrule: 'FREQ=MINUTELY;INTERVAL=10', start: new Date(T0 + 10 * 60_000) }],
  ['phrase', { at: 'every 10 minutes' }],
]
const JUMPS: [string, number][] = [
  ['forward by an hour', HOUR],
  ['back by an hour', -HOUR],
  ['forward by a day', DAY],
  ['back by a day', -DAY],
]

describe.each(TEN_MINUTES)('every ten minutes, as %s,', (_, when) => {
  test.each(JUMPS)(
    'a wall clock that jumps %s fires nothing early, loses nothing, doubles nothing',
    async (__, jumpMs) => {
      const everyMs = 10 * 60_000
      const { seen, before, atJump, skippedCount, end } = await throughJump(when, jumpMs)
      expect(before).toBe(6)
      expect(seen.filter(({ scheduledFor, firedAt }) => firedAt < scheduledFor)).toEqual([])
      expect(new Set(seen.map(({ scheduledFor }) => scheduledFor)).size).toBe(seen.length)
      // Every tick up to the end is accounted for: delivered, or in the log as skipped (at-least-once).
      expect(seen.length + skippedCount).toBe(Math.floor((end - T0) / everyMs))
      if (jumpMs > 0)
        expect({ atJump, skippedCount }).toEqual({ atJump: 1, skippedCount: jumpMs / everyMs - 1 })
      else expect({ atJump, skippedCount }).toEqual({ atJump: 0, skippedCount: 0 })
    },
  )

  test.each([
    ['all', 144, 0],
    ['skip', 0, 144],
  ] as const)('with misfire %s a day forward fires %d and skips %d', async (misfire, fired, skipped) => {
    const { atJump, skippedCount, seen } = await throughJump({ ...when, misfire }, DAY)
    expect({ atJump, skippedCount }).toEqual({ atJump: fired, skippedCount: skipped })
    expect(new Set(seen.map(({ scheduledFor }) => scheduledFor)).size).toBe(seen.length)
  })

  test.each([
    ['2098', 68 * YEAR],
    ['1970', -59 * YEAR],
  ])(
    'a clock that says %s and comes back is not believed: nothing is lost, early or doubled',
    async (__, jumpMs) => {
      const errors: string[] = []
      await using bench = await openTest({ onError: (thrown) => errors.push((thrown as Error).message) })
      const { wakeful, clock } = bench
      const seen: number[] = []
      wakeful.handle('tick', (fire) => void seen.push(fire.occurrence.scheduledFor.getTime()))
      await wakeful.start()
      await wakeful.set(when, { target: 'tick' })
      await clock.advance('30m')
      clock.jump(jumpMs)
      await clock.advance('30m')
      const once = await wakeful.set({ delay: '5m' }, { target: 'tick' })
      clock.jump(-jumpMs)
      await clock.advance('1h')
      const ticks = Array.from({ length: 12 }, (___, index) => T0 + (index + 1) * 10 * 60_000)
      expect(seen).toEqual([...ticks, T0 + 65 * 60_000].sort((a, b) => a - b))
      expect(once.fireAt?.toISOString()).toBe('2030-01-01T01:05:00.000Z')
      expect(errors[0]).toContain('not trusted')
      expect(errors.at(-1)).toContain('trusted again')
    },
  )
})

test('a process that starts in 2098 goes on from what the store last saw, until the clock is set right', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'wakeful-'))
  const store = `sqlite:${join(dir, 'alarms.db')}`
  const fired: string[] = []
  const later = async (clock: VirtualClock, work: (bench: TestBench) => Promise<void>) => {
    const errors: string[] = []
    await using bench = await openTest({ store, clock, onError: (thrown) => errors.push(String(thrown)) })
    bench.wakeful.handle('tick', (fire) => void fired.push(fire.occurrence.scheduledFor.toISOString()))
    await bench.wakeful.start()
    await work(bench)
    return errors
  }
  try {
    await later(new VirtualClock(new Date(T0)), async ({ wakeful }) => {
      await wakeful.set({ delay: '1h' }, { target: 'tick' })
      await wakeful.set({ delay: '3h' }, { target: 'tick' })
    })
    const wrong = new VirtualClock(new Date(T0 + 68 * YEAR))
    const errors = await later(wrong, async ({ clock }) => {
      await clock.advance('10m')
      expect(fired).toEqual([])
      clock.jump(-68 * YEAR + 2 * HOUR)
      await clock.advance('1s')
      expect(fired).toEqual(['2030-01-01T01:00:00.000Z'])
      await clock.advance('1h')
    })
    expect(fired).toEqual(['2030-01-01T01:00:00.000Z', '2030-01-01T03:00:00.000Z'])
    expect(errors).toHaveLength(2)
  } finally {
    await rm(dir, { recursive: true })
  }
})

test('a jump over a once alarm fires it once, within a second; a jump back delays it, and it fires once', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  const fired: number[] = []
  wakeful.handle('remind', (fire) => void fired.push(fire.firedAt.getTime()))
  await wakeful.start()
  await wakeful.set({ at: new Date(T0 + HOUR) }, { target: 'remind' })
  clock.jump('30m')
  clock.jump('-10m')
  await clock.advance('39m')
  expect(fired).toEqual([])
  clock.jump('5m')
  await clock.advance('1s')
  expect(fired).toHaveLength(1)
  clock.jump('-1h')
  await clock.advance('2h')
  expect(fired).toHaveLength(1)
})

test('backoff and attempt timeouts are not hurried by a jump of the wall clock', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  wakeful.handle('hang', () => new Promise(() => {}))
  await wakeful.start()
  const { id } = await wakeful.set({ delay: '1s' }, { target: 'hang', timeout: '1m', maxFailures: 1 })
  await clock.advance('1s')
  clock.jump('1h')
  await clock.advance('59s')
  expect((await wakeful.get(id))!.status).toBe('active')
  await clock.advance('1s')
  expect((await wakeful.get(id))!.status).toBe('failed')
})
