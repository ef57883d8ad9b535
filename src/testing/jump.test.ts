import { describe, expect, test } from 'vitest'
import { openTest } from './open-test.ts'

const T0 = Date.parse('2030-01-01T00:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR

interface Seen {
  readonly scheduledFor: number
  readonly firedAt: number
}

/** Runs a recurring alarm through a jump of the wall clock; answers what fired and what the log says. */
async function throughJump(everyMinutes: number, jumpMs: number) {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  const seen: Seen[] = []
  wakeful.handle('tick', (fire) => {
    seen.push({ scheduledFor: fire.occurrence.scheduledFor.getTime(), firedAt: fire.firedAt.getTime() })
  })
  await wakeful.start()
  await wakeful.set({ every: `${everyMinutes}m` }, { target: 'tick' })
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

describe.each([
  ['forward by an hour', HOUR],
  ['back by an hour', -HOUR],
  ['forward by a day', DAY],
  ['back by a day', -DAY],
])('a wall clock that jumps %s', (_, jumpMs) => {
  test('fires nothing early, loses nothing, doubles nothing', async () => {
    const everyMs = 10 * 60_000
    const { seen, before, atJump, skippedCount, end } = await throughJump(10, jumpMs)
    expect(before).toBe(6)
    expect(seen.filter(({ scheduledFor, firedAt }) => firedAt < scheduledFor)).toEqual([])
    expect(new Set(seen.map(({ scheduledFor }) => scheduledFor)).size).toBe(seen.length)
    // Every tick up to the end is accounted for: delivered, or in the log as skipped (at-least-once).
    expect(seen.length + skippedCount).toBe(Math.floor((end - T0) / everyMs))
    if (jumpMs > 0)
      expect({ atJump, skippedCount }).toEqual({ atJump: 1, skippedCount: jumpMs / everyMs - 1 })
    else expect({ atJump, skippedCount }).toEqual({ atJump: 0, skippedCount: 0 })
  })
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
