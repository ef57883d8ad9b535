import { describe, expect, it } from 'vitest'
import { type MinimalScenario, minimalScenario, problemsOf } from './minimal-scenario.ts'

/*
 * The database's clock is authoritative, even if it is wrong. When it jumps, or another server's clock replaces it,
 * Wakeful promises:
 * - Nothing is lost and nothing is recorded twice. What a jump ahead makes due is due; each alarm's misfire policy
 *   decides how missed occurrences are caught up.
 * - No attempt starts before its instant, by the clock as it was read within the last lease. A process learns of a step
 *   back with its next heartbeat; of a step shorter than the round trip, with its next quick heartbeat.
 * - Waiting follows that clock. A step back by an hour delays retries and future instants by an hour.
 * - Leases do not depend on it: no live process loses a shard, and dead ones lose theirs within two leases. There are
 *   two exceptions. A process that starts between a jump ahead and the others' next heartbeats sees only ended leases
 *   and takes over; what the others had in flight is delivered again, and their writes are rejected. And a lease holder
 *   whose heartbeat is already late loses its shards when the clock jumps ahead by less than half a lease, because that
 *   is not recognised as a jump.
 */

const HOUR_MS = 3_600_000
const JUMP_AT_MS = 7_000
const RUN_MS = 40_000
const MARGIN_MS = 14_000
const LEASE_MS = 2_000

/** Runs a minimal scenario in which the database's clock changes after seven seconds. */
async function run(
  inject: (small: MinimalScenario) => void,
  runMs = RUN_MS,
): Promise<MinimalScenario & { readonly jumpedAt: number }> {
  const small = minimalScenario({ each: 2 })
  const { world } = small
  // No other faults: a process that is slow for the length of a lease would lose it.
  world.network.conditions = {}
  let jumpedAt = 0
  world.in(JUMP_AT_MS, () => {
    jumpedAt = world.now
    inject(small)
  })
  await world.run(runMs)
  return { ...small, jumpedAt }
}

/** The holder and the epoch of each shard. */
function ownership({ world }: MinimalScenario): readonly string[] {
  const { database } = world.backend
  return database.shardsIn().map(({ shard, holder, epoch }) => `${shard} ${holder} ${epoch}`)
}

describe('the database’s clock jumps', () => {
  it.each([5_000, 60_000, HOUR_MS])(
    'ahead by %i ms: what becomes due fires once, and no process loses a shard',
    async (ms) => {
      let before: readonly string[] = []
      const small = await run(
        (each) => {
          before = ownership(each)
          each.world.stepDatabase(ms)
          // Missed occurrences are caught up one by one.
        },
        RUN_MS + ms / 10,
      )
      const { world, startLog, jumpedAt } = small
      expect(world.faults.of('databaseStep').count).toBe(1)
      expect(ownership(small)).toEqual(before)
      expect(problemsOf(small, jumpedAt + ms)).toEqual([])
      expect(startLog.starts.some(({ at, scheduledFor }) => at < scheduledFor - ms / 2)).toBe(true)
    },
  )

  it.each([5_000, 60_000, HOUR_MS])(
    'back by %i ms: nothing fires again, future instants wait that much longer, and no process loses a shard',
    async (ms) => {
      let before: readonly string[] = []
      const small = await run((each) => {
        before = ownership(each)
        each.world.stepDatabase(-ms)
      })
      const { world, startLog, jumpedAt } = small
      expect(ownership(small)).toEqual(before)
      expect(problemsOf(small, jumpedAt - ms)).toEqual([])
      // Known from the next heartbeat on. Then first starts of future instants wait by the new clock.
      const fresh = startLog.starts.filter(({ attempt, at }) => attempt === 1 && at > jumpedAt + LEASE_MS)
      expect(fresh.filter(({ at, scheduledFor }) => at - ms < scheduledFor)).toEqual([])
      const firsts = startLog.starts.filter(({ attempt }) => attempt === 1)
      expect(new Set(firsts.map(({ occurrenceId }) => occurrenceId)).size).toBe(firsts.length)
      expect(world.processes).toHaveLength(2)
    },
  )

  it('back by an hour: alarms set from then on fire on time by that clock', async () => {
    const small = minimalScenario({ each: 0 })
    const { world, startLog } = small
    await world.run(3_000)
    world.stepDatabase(-HOUR_MS)
    await world.run(3_000)
    for (let i = 0; i < 6; i++) void world.processes[i % 2]!.wakeful.set({ delay: '2s' }, { target: 'work' })
    await world.run(5_000)
    expect(startLog.starts).toHaveLength(6)
    expect(startLog.starts.every(({ latest, scheduledFor }) => latest - scheduledFor < 20)).toBe(true)
    expect(problemsOf(small, world.databaseNow)).toEqual([])
  })

  it('back by an hour in a failover while one process dies: the other takes over its shards within two leases', async () => {
    const small = minimalScenario({ each: 0 })
    const { world, startLog } = small
    await world.run(3_000)
    const [ant, bee] = world.processes
    world.outage(500)
    world.stepDatabase(-HOUR_MS)
    world.kill(ant!)
    // Its machine stays down.
    await world.run(900)
    for (const { machine } of world.processes) expect(machine.name).toBe('bee')
    for (let i = 0; i < 8; i++) void bee!.wakeful.set({ delay: '1s' }, { target: 'work' })
    await world.run(2 * LEASE_MS + 1_000)
    const { database } = world.backend
    expect(database.shardsIn().filter(({ holder }) => holder === 'ant.1')).toEqual([])
    expect(startLog.starts).toHaveLength(8)
    expect(problemsOf(small, world.databaseNow)).toEqual([])
  })

  it('ahead just as a process starts: it takes over from live processes, and nothing is recorded twice', async () => {
    let unfenced = 0
    for (let seed = 1; seed <= 15; seed++) {
      const small = minimalScenario({ seed, each: 6 })
      const { world, machines, startLog } = small
      world.in(6_000, () => void world.join(machines[0]!))
      world.in(6_000 + (seed % 10) * 0.2, () => world.stepDatabase(60_000))
      await world.run(RUN_MS)
      unfenced += startLog.unfenced.length
      const isStart = (wrong: string) => wrong.includes('was started by')
      expect(problemsOf(small, world.databaseNow - MARGIN_MS).filter((wrong) => !isStart(wrong))).toEqual([])
    }
    expect(unfenced).toBeLessThan(15)
  })
})
