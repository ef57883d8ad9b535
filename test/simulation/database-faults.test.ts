import { describe, expect, it } from 'vitest'
import { KIND_COUNT, type MinimalScenario, minimalScenario, problemsOf } from './minimal-scenario.ts'

const RUN_MS = 40_000
const MARGIN_MS = 14_000

/** Runs a minimal scenario to its end, with a fault at this time. */
async function run(
  atMs: number,
  inject: (small: MinimalScenario) => void,
  each = 2,
): Promise<MinimalScenario> {
  const small = minimalScenario({ each })
  small.world.in(atMs, () => inject(small))
  await small.world.run(RUN_MS)
  return small
}

function linesOf({ world }: MinimalScenario, part: string): readonly string[] {
  return world.trace.lines.filter((line) => line.includes(part))
}

describe('a full disk', () => {
  const FULL = 'the server is out of disk space or memory. Nothing was written.'

  it('stops all writes, including heartbeats, and nothing is lost, repeated or early', async () => {
    const small = await run(6_000, ({ world }) => world.fillDisk(5_000))
    const { world, startLog } = small
    expect(linesOf(small, FULL).length).toBeGreaterThan(0)
    expect(world.faults.of('diskFull')).toEqual({ count: 1, inFlight: 1 })
    // Leases cannot be renewed. Once they have ended, no process starts anything.
    const from = world.now - RUN_MS + 6_000
    const within = startLog.starts.filter(({ at }) => at > from + 2_000 && at < from + 5_000)
    expect(within).toEqual([])
    expect(startLog.starts.some(({ at }) => at >= from + 5_000)).toBe(true)
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
  })

  it('rejects a set with a clear error, and answers reads', async () => {
    const { world } = minimalScenario()
    await world.run(1_000)
    const { wakeful } = world.processes[0]!
    world.fillDisk(10_000)
    const refused = wakeful.set({ delay: '1h' }, { target: 'work' }).then(
      () => 'set',
      (thrown: unknown) => thrown,
    )
    const listed = wakeful.list()
    await world.run(1_000)
    expect(await refused).toMatchObject({ code: 'store_unavailable', message: expect.stringContaining(FULL) })
    await expect(listed).resolves.toBeDefined()
  })
})

describe('a database that goes down', () => {
  it('breaks every connection and open transaction, and loses nothing committed', async () => {
    // In the middle of a transactional delivery.
    const small = await run(0, ({ world }) => {
      const stop = world.network.watch((_name, statement, point) => {
        if (statement !== 'transact.settle' || point !== 'ran') return
        stop()
        world.outage(3_000)
      })
    })
    const { world } = small
    expect(world.faults.of('outage')).toEqual({ count: 1, inFlight: 1 })
    expect(linesOf(small, 'lost before it ran').length).toBeGreaterThan(2)
    expect(linesOf(small, 'transact.settle lost after it ran')).toHaveLength(1)
    expect(world.processes.map(({ name }) => name)).toEqual(['ant.1', 'bee.1'])
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
  })

  it('leaves all processes listening: an alarm set afterwards by one fires on time in the other', async () => {
    const small = minimalScenario({ each: 0, seed: 4 })
    const { world, startLog } = small
    await world.run(2_000)
    world.outage(100)
    await world.run(3_000)
    for (let i = 0; i < 8; i++) void world.processes[0]!.wakeful.set({ delay: '300ms' }, { target: 'work' })
    await world.run(2_000)
    expect(new Set(startLog.starts.map(({ process }) => process))).toEqual(new Set(['ant.1', 'bee.1']))
    expect(startLog.starts.every(({ at, scheduledFor }) => at - scheduledFor < 20)).toBe(true)
  })
})

describe('a half-open connection', () => {
  it('costs a process its shards: it starts nothing more, and the other takes over all within a lease', async () => {
    const small = await run(6_000, ({ world }) => world.hang(world.processes[0]!, 15_000))
    const { world, startLog } = small
    expect(linesOf(small, 'ant.1 heartbeat hangs').length).toBeGreaterThan(0)
    const from = world.now - RUN_MS + 6_000
    const hung = startLog.starts.filter(({ at }) => at > from + 2_000 && at < from + 15_000)
    expect(new Set(hung.map(({ process }) => process))).toEqual(new Set(['bee.1']))
    expect(world.faults.of('hang').count).toBe(1)
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
  })

  it('under one statement delays only that statement until it is given up and repeated', async () => {
    const small = await run(
      2_000,
      ({ world }) => {
        world.network.conditions = { hang: 0.1 }
        world.in(15_000, () => {
          world.network.conditions = {}
        })
      },
      8,
    )
    const { world } = small
    const hung = linesOf(small, ' hangs').filter((line) => / (settle|claim|transact) /.test(line))
    expect(hung.length).toBeGreaterThan(0)
    expect(world.faults.of('hang').inFlight).toBeGreaterThan(2)
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
  })
})

describe('a statement that conflicts with another', () => {
  it('is rolled back and repeated without visible effect', async () => {
    const small = await run(0, ({ world }) => {
      world.network.conditions = { conflict: 0.2 }
    })
    const { world, ids } = small
    const { count, inFlight } = world.faults.of('conflict')
    expect(count).toBeGreaterThan(10)
    expect(inFlight).toBe(count)
    expect(ids).toHaveLength(2 * KIND_COUNT)
    expect(linesOf(small, 'error')).toEqual([])
    expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
  })

  it('again and again is given up with a clear error', async () => {
    const { world } = minimalScenario({ each: 0 })
    await world.run(1_000)
    world.network.conditions = { conflict: 1 }
    const refused = world.processes[0]!.wakeful.set({ delay: '1h' }, { target: 'work' }).catch(
      (thrown: unknown) => thrown,
    )
    await world.run(1_000)
    const message = expect.stringContaining('the transaction conflicted with others several times')
    expect(await refused).toMatchObject({ code: 'store_unavailable', message })
    expect(world.trace.lines.filter((line) => line.endsWith('ant.1 set'))).toHaveLength(8)
  })
})
