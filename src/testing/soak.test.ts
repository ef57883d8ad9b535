import { describe, expect, test } from 'vitest'
import type { EventView } from '../library/index.ts'
import type { Fire } from '../targets/index.ts'
import { openTest, type TestBench } from './open-test.ts'

const STEPS = 60
const EVERY = [10, 17, 60]

describe.each([1, 2, 15, 22, 25])(
  'through pauses, failures, hangs and jumps of the clock, seed %i',
  (seed) => {
    test('every tick is delivered or in the log as skipped, once, and no drift is negative (at-least-once)', async () => {
      await using bench = await openTest()
      const chance = chanceOf(seed)
      const negative: number[] = []
      let isCalm = false
      bench.wakeful.handle('work', (fire) => {
        if (fire.driftMs < 0) negative.push(fire.driftMs)
        return isCalm ? fire.complete('ok') : work(fire, chance)
      })
      await bench.wakeful.start()
      const alarms = await setAll(bench, chance)
      for (let i = 0; i < STEPS; i++) await act(bench, chance, alarms[chance(alarms.length)]!.id)
      for (const { id } of alarms) await bench.wakeful.resume(id)
      // From here on nothing fails, so that what is open or queued comes to its end.
      isCalm = true
      await bench.clock.advance('10m')
      for (const { id, createdAt, everyMs } of alarms) {
        const ticks = ticksOf(await Array.fromAsync(bench.wakeful.events({ alarmId: id })), everyMs)
        const due = Math.floor((bench.clock.now() - createdAt) / everyMs)
        const missing = Array.from({ length: due }, (_, i) => i + 1).filter(
          (tick) => !ticks.has(createdAt + tick * everyMs),
        )
        expect([...ticks].filter(([, times]) => times > 1)).toEqual([])
        expect(missing).toEqual([])
      }
      expect(negative).toEqual([])
    })
  },
)

type Chance = (below: number) => number

/** A linear congruential generator, so that a seed repeats its run. */
function chanceOf(seed: number): Chance {
  let state = seed * 7919
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

async function work(fire: Fire, chance: Chance): Promise<void> {
  const luck = chance(10)
  if (luck < 2) throw new Error('no luck')
  if (luck === 2) await new Promise(() => {})
  if (luck === 3) await new Promise((resolve) => setImmediate(resolve))
  if (luck === 4) fire.complete('ok')
}

async function setAll({ wakeful }: TestBench, chance: Chance) {
  const alarms: { id: string; createdAt: number; everyMs: number }[] = []
  for (let i = 0; i < 6; i++) {
    const seconds = EVERY[i % 3]!
    const { id, createdAt } = await wakeful.set(
      { every: `${seconds}s` },
      {
        target: 'work',
        timeout: '25s',
        ack: i % 2 === 0 ? 'delivery' : 'report',
        overlap: (['skip', 'queue', 'allow'] as const)[chance(3)]!,
        maxFailures: 2,
        completionTimeout: '40s',
      },
    )
    alarms.push({ id, createdAt: createdAt.getTime(), everyMs: seconds * 1000 })
  }
  return alarms
}

async function act({ wakeful, clock }: TestBench, chance: Chance, id: string): Promise<void> {
  const verbs = ['pause', 'resume', 'resume', 'skipNext', 'fireNow', 'complete', 'fail'] as const
  const which = chance(12)
  if (which === 7) return clock.jump([5_000, -3_000, 120_000, -90_000][chance(4)]!)
  if (which > 7) return clock.advance([1, 500, 3_000, 20_000, 45_000][chance(5)]!)
  try {
    await wakeful[verbs[which]!](id)
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'conflict' })
  }
}

/** How often each of the rule's instants was ended by the log; a retry after a failed report ends it once. */
function ticksOf(events: readonly EventView[], everyMs: number): Map<number, number> {
  const ticks = new Map<number, number>()
  const fired = new Set<string>()
  for (const { type, occurrenceId, data } of events) {
    if (occurrenceId === null || occurrenceId.endsWith('forced')) continue
    const isNew = !fired.has(occurrenceId)
    const [from, count] =
      type === 'alarm.skipped'
        ? [Date.parse(String(data.from)), Number(data.count)]
        : [
            Number(occurrenceId.split('-').at(-1)),
            isNew && /fired|failed$/.test(type) && !type.includes('attempt') ? 1 : 0,
          ]
    if (count > 0) fired.add(occurrenceId)
    for (let i = 0; i < count; i++) ticks.set(from + i * everyMs, (ticks.get(from + i * everyMs) ?? 0) + 1)
  }
  return ticks
}
