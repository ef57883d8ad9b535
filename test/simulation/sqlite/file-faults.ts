import type { SimulatedProcess } from '../process.ts'
import type { World } from '../world.ts'
import type { Point, Role } from './connection.ts'
import type { FileWorld } from './file-world.ts'

const ROLES: readonly Role[] = ['queue', 'queue', 'handler', 'lock']
const POINTS: readonly Point[] = ['begins', 'begun', 'commits', 'committed']
/** A clock that is slewed, once per second. */
const SLEW_MS = 0.5
const SLEWS = 20
const EVENTS_MAX = 200

/** Injects a fault into one of the processes or their machine, lasting at most `msMax`. */
export function injectFileFault(world: FileWorld, msMax: number): void {
  const { random, processes } = world
  const process = processes[random.between(0, processes.length - 1)]
  if (process === undefined || !process.isUp) return
  const ms = random.between(100, msMax)
  const role = ROLES[random.between(0, ROLES.length - 1)]!
  const point = POINTS[random.between(0, POINTS.length - 1)]!
  random.weighted([
    [1, () => world.kill(process)],
    [2, () => void world.close(process)],
    [
      2,
      () =>
        world.killAtEvent(process, random.between(1, EVENTS_MAX), random.chance(0.5) ? 'before' : 'after'),
    ],
    [5, () => world.killAtPoint(process, role, point)],
    [3, () => killInTransaction(world)],
    [3, () => world.pause(process, ms)],
    [1, () => pauseInTransaction(world, ms)],
    [2, () => whenOverloaded(world, (each) => world.pause(each, ms))],
    [1, () => whenOverloaded(world, () => world.stepAll(-ms))],
    [1, () => whenInTransaction(world, () => world.stepAll(-ms))],
    [1, () => world.stepAll(random.between(-ms, ms))],
    [1, () => slew(world, random.chance(0.5) ? SLEW_MS : -SLEW_MS, SLEWS)],
    [1, () => world.fillDisk(ms)],
    [1, () => world.lockFile(ms)],
  ])()
}

/** Kills the next process that is inside a transactional handler. */
function killInTransaction(world: FileWorld): void {
  whenInTransaction(world, (process) => world.kill(process))
}

/** Pauses the next process that is inside a transactional handler. The others cannot write until it continues. */
function pauseInTransaction(world: FileWorld, ms: number): void {
  whenInTransaction(world, (process) => world.pause(process, ms))
}

/**
 * Acts once a process has claimed more than it has slots for. Then its lease may end, or the clock be set back, while
 * claimed timers wait.
 */
function whenOverloaded(world: FileWorld, inject: (process: SimulatedProcess) => void): void {
  const { backend, random } = world
  const stop = backend.watch((process, role, point) => {
    const { concurrency = 100 } = process.machine
    if (role !== 'queue' || point !== 'committed' || backend.inFlight(process.name) <= 2 * concurrency) return
    stop()
    world.in(random.next() * 5, () => inject(process))
  })
}

/** Acts once the next transactional handler has run for a while. */
function whenInTransaction(world: FileWorld, inject: (process: SimulatedProcess) => void): void {
  const { backend, random } = world
  const stop = backend.watch((process, role, point) => {
    if (role !== 'handler' || point !== 'begun') return
    stop()
    world.in(random.next() * 200, () => {
      if (backend.isInTransaction(process)) inject(process)
      else whenInTransaction(world, inject)
    })
  })
}

function slew(world: World, ms: number, times: number): void {
  world.stepAll(ms)
  if (times > 1) world.in(1_000, () => slew(world, ms, times - 1))
}
