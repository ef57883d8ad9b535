import type { Machine } from '../process.ts'
import { StartLog } from '../start-log.ts'
import type { World } from '../world.ts'
import { injectFileFault } from './file-faults.ts'
import { FileWorld } from './file-world.ts'
import { type Judgement, judgementOf } from './judgement.ts'
import { registerHandlersOn, Users } from './users.ts'

const MACHINES = ['ant', 'bee', 'cat', 'dog']
const ALARMS = 120
/** Alarms that are cancelled at about their due instant. */
const DOOMED = 60
const DOOMED_WITHIN_MS = 3 * 60_000
/** With few slots, many claimed timers wait in a process, where it may be paused or outlive its lease. */
const CONCURRENCY = [3, 10, 100]
/** The longest time between two faults. With few faults, their effects last longer. */
const CALM_MS = [3_000, 8_000, 30_000]
const SET_WITHIN_MS = 30_000
const STORM_MS = 4 * 60_000
const RUSH_MS = 5 * 60_000
/** A closing process settles its running deliveries; its limit is half a minute. */
const CLOSE_MS = 40_000
const SUPERVISE_MS = 700
const FAULT_MS_MAX = 12_000
/** Occurrences due just before the end may still be retried. */
const MARGIN_MS = 45_000
/** All processes share the clock of one machine, which is true time here. */
const TRUE_CLOCK = { offsetMs: 0, drift: 0 }

/**
 * Five busy minutes on one real file. A fault hits one of a few processes or their machine every few seconds, for four
 * minutes, and processes join and leave. Then there are no more faults, and at last all processes close.
 */
export async function rushOnFile(seed: number): Promise<Judgement> {
  const world = new FileWorld({ seed })
  const { random } = world
  try {
    const startLog = new StartLog(world)
    const users = new Users(world)
    const calmMs = CALM_MS[random.between(0, CALM_MS.length - 1)]!
    const concurrency = CONCURRENCY[random.between(0, CONCURRENCY.length - 1)]!
    supervise(world, { concurrency, registerHandlers: (process) => registerHandlersOn(process, startLog) })
    for (let i = 0; i < ALARMS; i++) world.in(500 + random.next() * SET_WITHIN_MS, () => void users.setOne(i))
    for (let i = 0; i < DOOMED; i++)
      world.in(500 + random.next() * DOOMED_WITHIN_MS, () => void users.setDoomed(startLog))
    for (let at = 5_000; at < STORM_MS; at += random.between(200, calmMs))
      world.in(at, () => injectFileFault(world, FAULT_MS_MAX))
    await world.run(RUSH_MS)
    const until = world.now - MARGIN_MS
    for (const process of world.processes) void world.close(process)
    await world.run(CLOSE_MS)
    return judgementOf(world, startLog, users, until)
  } finally {
    world.backend.dispose()
  }
}

/** Varies the number of processes: at least one, until the end. */
function supervise(world: World, how: Pick<Machine, 'registerHandlers' | 'concurrency'>, passedMs = 0): void {
  const { random, processes } = world
  const wanted = random.between(1, MACHINES.length)
  for (const name of MACHINES.slice(processes.length, wanted)) {
    const isFree = !processes.some((process) => process.machine.name === name)
    if (isFree) world.launch({ name, skew: TRUE_CLOCK, ...how })
  }
  const idle = processes.find(({ isUp }) => isUp)
  if (idle !== undefined && processes.length > wanted && random.chance(0.03)) void world.close(idle)
  const ms = passedMs + SUPERVISE_MS
  if (ms < RUSH_MS) world.in(SUPERVISE_MS, () => supervise(world, how, ms))
}
