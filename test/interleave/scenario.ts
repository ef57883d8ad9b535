import { judgeFuture, playFuture } from './future.ts'
import { type Breach, judgeAnswers, judgeRows } from './judge.ts'
import { readRows } from './rows.ts'
import type { Actor, Choose, Ran } from './schedule.ts'
import type { World } from './world.ts'

/** A prepared scenario: its actors, and additional checks. */
export interface Scene {
  readonly actors: readonly Actor[]
  /** Runs when all actors are done. */
  readonly judge?: () => Promise<Breach[]>
  /** Runs after the future was played. */
  readonly judgeEnd?: () => Promise<Breach[]>
  /** Whether something is pruned. Lifetime tallies then exceed the recount. */
  readonly hasPruned?: boolean
  /** Whether the future is played (true). */
  readonly playsFuture?: boolean
}

/** A small setup, and two or three actors that act on it concurrently. */
export interface Scenario {
  readonly name: string
  /** Error codes that an actor may get. */
  readonly refusals?: readonly string[]
  /** Whether lock waits with a timeout fail at once, which tests the other path. */
  readonly hasShortLockTimeout?: boolean
  /** Whether it has three actors. Such scenarios have many schedules and a separate bound. */
  readonly hasThreeActors?: boolean
  /** Whether it is one of the many pairs of operations. The short form draws some of them. */
  readonly isPair?: boolean
  readonly setUp: (world: World) => Promise<Scene>
}

/** One schedule of a scenario, and the promises it broke. */
export interface Tried {
  readonly ran: Ran
  readonly breaches: readonly Breach[]
}

const SHORT_LOCK_TIMEOUT_MS = 1

/** Runs one schedule of a scenario from its setup, and judges it. */
export async function tryOnce(world: World, scenario: Scenario, choose: Choose): Promise<Tried> {
  await world.reset()
  const scene = await scenario.setUp(world)
  if (scenario.hasShortLockTimeout === true) world.lockTimeout(SHORT_LOCK_TIMEOUT_MS)
  const begun = world.notes.length
  const ran = await world.run(scene.actors, choose)
  if (ran.stuck !== null) return { ran, breaches: [{ promise: 'liveness', what: ran.stuck }] }
  const breaches = [
    ...refused(world, scenario, begun),
    ...judgeRows(await readRows(world), scene.hasPruned === true),
  ]
  if (ran.deadlocks > 0) breaches.push({ promise: 'no-deadlock', what: 'two waited for each other' })
  breaches.push(...((await scene.judge?.()) ?? []))
  if (scene.playsFuture !== false) breaches.push(...(await future(world, scene)))
  breaches.push(...((await scene.judgeEnd?.()) ?? []))
  breaches.push(...judgeAnswers(world.notes, world.trace))
  return { ran, breaches }
}

async function future(world: World, { hasPruned = false }: Scene): Promise<Breach[]> {
  const lived = await playFuture(world)
  return [...lived, ...(await judgeFuture(world)), ...judgeRows(await readRows(world), hasPruned)]
}

/** Unexpected errors that reached an actor, and deadlocks that were not retried. */
function refused(world: World, { refusals = [] }: Scenario, begun: number): Breach[] {
  return world.notes.slice(begun).flatMap((note): Breach[] => {
    if (note.kind !== 'failed' || refusals.includes(note.code)) return []
    const isDeadlock = /deadlock/i.test(note.message)
    return [
      {
        promise: isDeadlock ? 'no-deadlock' : 'liveness',
        what: `${note.what}: ${note.code}: ${note.message}`,
      },
    ]
  })
}
