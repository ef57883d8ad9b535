import { judgeFuture, liveOn } from './future.ts'
import { type Breach, judgeAnswers, judgeRows } from './judge.ts'
import { readRows } from './rows.ts'
import type { Actor, Choose, Ran } from './schedule.ts'
import type { World } from './world.ts'

/** What a scenario has set up: who acts, and what is to be judged beside what is judged of all. */
export interface Scene {
  readonly actors: readonly Actor[]
  /** Judged when all have been answered. */
  readonly judge?: () => Promise<Breach[]>
  /** Judged when the future was played out as well. */
  readonly judgeEnd?: () => Promise<Breach[]>
  /** Whether something is pruned: lifetime figures then stay above what is left to count. */
  readonly hasPruned?: boolean
  /** Whether the future after it is played out (true). */
  readonly livesOn?: boolean
}

/** A small beginning and two or three who act on it at the same time. */
export interface Scenario {
  readonly name: string
  /** Error codes that an actor may be refused with. */
  readonly refusals?: readonly string[]
  /** Whether waits for locks end at once where the store bounds them: the other way to go through. */
  readonly isHasty?: boolean
  /** Whether three act: their schedules are many, and have a bound of their own. */
  readonly isOfThree?: boolean
  /** Whether it is one of all pairs of moves, which are many: the short form draws some of them. */
  readonly isOfPairs?: boolean
  readonly setUp: (world: World) => Promise<Scene>
}

/** One schedule of a scenario, and which promises it broke. */
export interface Tried {
  readonly ran: Ran
  readonly breaches: readonly Breach[]
}

const HASTY_MS = 1

/** Runs one schedule of a scenario from its beginning, and judges it. */
export async function tryOnce(world: World, scenario: Scenario, choose: Choose): Promise<Tried> {
  await world.reset()
  const scene = await scenario.setUp(world)
  if (scenario.isHasty === true) world.lockTimeout(HASTY_MS)
  const begun = world.notes.length
  const ran = await world.run(scene.actors, choose)
  if (ran.stuck !== null) return { ran, breaches: [{ promise: 'liveness', what: ran.stuck }] }
  const breaches = [
    ...refused(world, scenario, begun),
    ...judgeRows(await readRows(world), scene.hasPruned === true),
  ]
  if (ran.deadlocks > 0) breaches.push({ promise: 'no-deadlock', what: 'two waited for each other' })
  breaches.push(...((await scene.judge?.()) ?? []))
  if (scene.livesOn !== false) breaches.push(...(await future(world, scene)))
  breaches.push(...((await scene.judgeEnd?.()) ?? []))
  breaches.push(...judgeAnswers(world.notes, world.story))
  return { ran, breaches }
}

async function future(world: World, { hasPruned = false }: Scene): Promise<Breach[]> {
  const lived = await liveOn(world)
  return [...lived, ...(await judgeFuture(world)), ...judgeRows(await readRows(world), hasPruned)]
}

/** An error that reached an actor: a deadlock nobody tried again, or what the scenario does not expect. */
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
