import type { Evidence } from '../judge/evidence.ts'
import { judge, type Verdict } from '../judge/judge.ts'
import { Diary } from './diary.ts'
import { Follower } from './follower.ts'
import { CALM } from './network.ts'
import { AFTERMATH_MS, type Plan, SCOPES } from './plan.ts'
import { arrange } from './strikes.ts'
import { Users } from './users.ts'
import { Workers } from './workers.ts'
import { simulatedWorld, type World } from './world.ts'

/** What became of a run. */
export interface Played {
  readonly plan: Plan
  readonly world: World
  readonly evidence: Evidence
  readonly verdict: Verdict
}

/** How long after a process's death the next one is started. */
const RESTART_MS = 1_500
/** What is due once the faults have stopped is delivered within this long (the bound of liveness). */
export const LIVELY_MS = 10_000

/** Lets a plan happen, and judges what came of it. */
export async function play(plan: Plan, isTold = false): Promise<Played> {
  const { seed, shards, leaseMs, heartbeatMs, upkeepMs } = plan
  const world = simulatedWorld({ seed, shards, leaseMs, heartbeatMs, upkeepMs, isTold })
  const diary = new Diary()
  const until = world.now + plan.endMs - AFTERMATH_MS
  populate(world, plan, diary, until)
  world.network.weather = plan.weather
  arrange(world, plan.strikes)
  await world.run(plan.calmMs)
  world.network.weather = CALM
  diary.add({ type: 'calm', at: world.now })
  await world.run(LIVELY_MS + leaseMs)
  const overdue = world.backend.overdue(world.now - LIVELY_MS - leaseMs)
  await world.run(plan.endMs - world.timeline.now)
  const evidence = evidenceOf(world, plan, diary, until, overdue)
  return { plan, world, evidence, verdict: judge(evidence) }
}

/** Brings processes, their targets and their users to life. */
function populate(world: World, plan: Plan, diary: Diary, until: number): void {
  const workers = new Workers(world, diary, plan.errands)
  for (let i = 1; i <= plan.machines; i++) {
    const { concurrency } = plan
    const equip = workers.equip.bind(workers)
    world.launch({ name: `m${i}`, skew: world.skew(), equip, restartMs: RESTART_MS, concurrency })
  }
  const users = new Users(world, diary, until)
  for (const errand of plan.errands) void users.see(errand)
  void new Follower(world, diary, SCOPES[0]).follow()
}

function evidenceOf(
  { backend }: World,
  { concurrency }: Plan,
  { entries }: Diary,
  until: number,
  overdue: readonly string[],
): Evidence {
  return {
    entries,
    log: backend.records(),
    effects: backend.effects(),
    // What recurs waits for ever: `overdue` says what should not wait any more.
    pending: [],
    until,
    concurrency,
    overdue,
    logPlaces: backend.placesOf(SCOPES[0], until),
  }
}
