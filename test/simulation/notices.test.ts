import { describe, expect, it } from 'vitest'
import { hamlet } from './minimal-scenario.ts'
import type { Weather } from './conditions.ts'

const HEARTBEAT_MS = 700

/** How late those alarms start that one process sets and the other one fires. */
async function latenesses(weather: Weather) {
  const { world, ledger } = hamlet({ each: 0, seed: 2 })
  await world.run(3_000)
  world.network.weather = weather
  const [ant] = world.processes
  for (let i = 0; i < 40; i++)
    world.in(i * 50, () => void ant!.wakeful.set({ delay: '100ms' }, { target: 'work' }))
  await world.run(10_000)
  expect(ledger.starts).toHaveLength(40)
  expect([ledger.early, ledger.unfenced]).toEqual([[], []])
  const told = ledger.starts.filter(({ process }) => process === 'bee.1')
  return { world, latest: Math.max(...told.map(({ at, scheduledFor }) => at - scheduledFor)) }
}

describe('news of what another process has set', () => {
  it('let it be fired on time', async () => {
    expect((await latenesses({})).latest).toBeLessThan(10)
  })

  it('may all be lost: the next beat finds it', async () => {
    const { world, latest } = await latenesses({ newsLost: 1 })
    expect(world.faults.of('newsLost').inFlight).toBeGreaterThan(10)
    expect(latest).toBeGreaterThan(100)
    expect(latest).toBeLessThan(HEARTBEAT_MS + 20)
  })

  it('may be late, and so come in any order', async () => {
    const { world, latest } = await latenesses({ newsLate: 1 })
    expect(world.faults.of('newsLate').inFlight).toBeGreaterThan(10)
    expect(latest).toBeLessThan(HEARTBEAT_MS + 20)
  })

  it('may be doubled: nothing is delivered twice', async () => {
    const { world, latest } = await latenesses({ newsDoubled: 1 })
    expect(world.faults.of('newsDoubled').inFlight).toBeGreaterThan(10)
    expect(latest).toBeLessThan(10)
  })
})
