import { describe, expect, it } from 'vitest'
import { type MinimalScenario, minimalScenario, problemsOf } from './minimal-scenario.ts'

const RUN_MS = 40_000
const MARGIN_MS = 14_000

function shares({ world }: MinimalScenario): Record<string, number> {
  const shards = world.backend.database.shardsIn(['app'])
  const holders = Map.groupBy(shards, ({ holder }) => holder ?? 'free')
  return Object.fromEntries([...holders].map(([holder, { length }]) => [holder, length]))
}

function latest({ startLog }: MinimalScenario): number {
  const firsts = startLog.starts.filter(({ attempt }) => attempt === 1)
  return Math.max(...firsts.map(({ at, scheduledFor }) => at - scheduledFor))
}

describe('processes', () => {
  it('that join get their share, and nothing is late', async () => {
    const small = minimalScenario({ each: 3, shards: 12 })
    const { world, machines } = small
    world.network.conditions = {}
    world.in(6_000, () => void world.join(machines[0]!))
    await world.run(RUN_MS)
    expect(shares(small)).toEqual({ 'ant.1': 4, 'bee.1': 4, 'ant-1.1': 4 })
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
    expect(latest(small)).toBeLessThan(100)
  })

  it('that leave hand over all shards at once and are not replaced; the last one stays', async () => {
    const small = minimalScenario({ machines: ['ant', 'bee', 'cat'], each: 3, shards: 12 })
    const { world } = small
    world.network.conditions = {}
    const [ant, bee, cat] = world.processes
    world.in(6_000, () => void world.leave(ant!))
    world.in(10_000, () => void world.leave(bee!))
    world.in(14_000, () => void world.leave(cat!))
    await world.run(RUN_MS)
    expect(shares(small)).toEqual({ 'cat.1': 12 })
    expect(world.processes).toEqual([cat])
    expect(world.faults.of('leave').count).toBe(3)
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
    expect(latest(small)).toBeLessThan(500)
  })

  it('are replaced one by one in a deploy without visible effect', async () => {
    const small = minimalScenario({ machines: ['ant', 'bee', 'cat', 'dog'], each: 20, shards: 12 })
    const { world } = small
    world.network.conditions = {}
    world.in(5_000, () => world.deploy(12_000))
    await world.run(RUN_MS)
    expect(shares(small)).toEqual({ 'ant.2': 3, 'bee.2': 3, 'cat.2': 3, 'dog.2': 3 })
    expect(world.faults.of('deploy')).toEqual({ count: 1, inFlight: 1 })
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
    expect(latest(small)).toBeLessThan(500)
  })

  it('may join by the hundred at once, and leave again', async () => {
    const small = minimalScenario({ each: 6, shards: 128 })
    const { world, machines } = small
    world.network.conditions = {}
    world.in(6_000, () => {
      for (let i = 0; i < 100; i++) world.join(machines[0]!)
    })
    world.in(20_000, () => {
      for (const process of world.processes.slice(2)) void world.leave(process)
    })
    await world.run(19_900)
    const counts = Object.values(shares(small))
    expect([counts.length, Math.min(...counts), Math.max(...counts)]).toEqual([102, 1, 2])
    await world.run(RUN_MS - 19_900)
    expect(shares(small)).toEqual({ 'ant.1': 64, 'bee.1': 64 })
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
    expect(latest(small)).toBeLessThan(500)
  })
})
