import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import type { Clock } from '../../src/time/index.ts'

test('a large batch yields to other calls while it is parsed, and stays in order and atomic', async () => {
  let turns = 0
  const clock: Clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer: (ms, fire) => {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
    turn: () => {
      turns += 1
      return new Promise((resolve) => void setImmediate(resolve))
    },
  }
  const wakeful = await open('sqlite::memory:', { clock, timezone: 'UTC' })
  const items = Array.from({ length: 1000 }, (_, n) => ({
    when: `tomorrow at ${1 + (n % 11)}pm`,
    label: `${n}`,
    target: 'remind',
  }))
  try {
    const set = await wakeful.setMany(items)
    expect(turns).toBeGreaterThanOrEqual(45)
    expect(set.map(({ label }) => label)).toEqual(items.map(({ label }) => label))
    const broken = items.with(999, { ...items[999]!, when: 'the day after never' })
    await expect(wakeful.setMany(broken)).rejects.toThrow(/the day after never/)
    expect((await wakeful.stats()).total).toBe(1000)
  } finally {
    await wakeful.close()
  }
})
