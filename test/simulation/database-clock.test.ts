import { describe, expect, it } from 'vitest'
import { type MinimalScenario, minimalScenario, problemsOf } from './minimal-scenario.ts'

/*
 * The database's clock is the authority: what it says is the time, also where it is wrong. So much is promised when it
 * jumps, or when another server's takes its place:
 * - Nothing is lost and nothing is recorded twice. What a jump ahead makes due is due; how what was missed by it is made
 *   up for is each alarm's own policy.
 * - Nothing starts before its instant, at its first attempt or a later one, by the clock as it was read within the last
 *   lease. A step back is known with the next beat; one that is shorter than the way to the database, with the next beat
 *   that is quick.
 * - What waits, waits by that clock. A step back by an hour makes a retry, or an instant that lay ahead, an hour later.
 * - Leases do not depend on it: nobody who lives loses a shard, and the dead lose theirs within two leases. One exception
 *   is a process that starts between a jump ahead and the next beat of the others: it sees nothing but leases that have
 *   ended, and takes over. What those had in flight is delivered again, and nothing they say is accepted. Another is an
 *   owner whose beat is late already when the clock jumps ahead by less than half a lease, which nobody takes for a jump.
 */

const HOUR_MS = 3_600_000
const JUMP_AT_MS = 7_000
const RUN_MS = 40_000
const MARGIN_MS = 14_000
const LEASE_MS = 2_000

/** Runs a minimalScenario in which something befalls the database's clock after seven seconds. */
async function lived(
  befall: (small: MinimalScenario) => void,
  runMs = RUN_MS,
): Promise<MinimalScenario & { readonly jumpedAt: number }> {
  const small = minimalScenario({ each: 2 })
  const { world } = small
  // Nothing else befalls it: who is slow for as long as a lease loses it.
  world.network.conditions = {}
  let jumpedAt = 0
  world.in(JUMP_AT_MS, () => {
    jumpedAt = world.now
    befall(small)
  })
  await world.run(runMs)
  return { ...small, jumpedAt }
}

/** Which process holds which shard, and since which takeover. */
function ownership({ world }: MinimalScenario): readonly string[] {
  const { database } = world.backend
  return database.shardsIn().map(({ shard, holder, epoch }) => `${shard} ${holder} ${epoch}`)
}

describe('the database’s clock jumps', () => {
  it.each([5_000, 60_000, HOUR_MS])(
    'ahead by %i ms: what that makes due fires once, and nobody loses a shard',
    async (ms) => {
      let before: readonly string[] = []
      const small = await lived(
        (each) => {
          before = ownership(each)
          each.world.stepDatabase(ms)
          // What was missed is made up for one by one.
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
    'back by %i ms: nothing fires again, what lay ahead waits so much longer, and nobody loses a shard',
    async (ms) => {
      let before: readonly string[] = []
      const small = await lived((each) => {
        before = ownership(each)
        each.world.stepDatabase(-ms)
      })
      const { world, startLog, jumpedAt } = small
      expect(ownership(small)).toEqual(before)
      expect(problemsOf(small, jumpedAt - ms)).toEqual([])
      // Known with the next beat: from there on the first starts of what had not come due wait by the new clock.
      const fresh = startLog.starts.filter(({ attempt, at }) => attempt === 1 && at > jumpedAt + LEASE_MS)
      expect(fresh.filter(({ at, scheduledFor }) => at - ms < scheduledFor)).toEqual([])
      const firsts = startLog.starts.filter(({ attempt }) => attempt === 1)
      expect(new Set(firsts.map(({ occurrenceId }) => occurrenceId)).size).toBe(firsts.length)
      expect(world.processes).toHaveLength(2)
    },
  )

  it('back by an hour: what is set from then on fires on time, by that clock', async () => {
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

  it('back by an hour across a failover, in which one process dies: the other has its shards within two leases', async () => {
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

  it('ahead just as a process starts: that one takes over from those who live, and nothing is recorded twice', async () => {
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
