import type { Random } from '../random.ts'
import type { FaultName } from './faults.ts'
import type { Point } from './network.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** What can be let loose on a world at a given moment. What the conditions does to statements is not among it. */
export type PlannedFaultName = Exclude<
  FaultName,
  | 'slow'
  | 'requestLost'
  | 'responseLost'
  | 'conflict'
  | 'noticeLost'
  | 'noticeLate'
  | 'noticeDuplicated'
  | 'fileLocked'
>

/** Which faults, and how often each compared to the others: what is not named does not happen. */
export type FaultWeights = Partial<Readonly<Record<PlannedFaultName, number>>>

/** One fault that is to happen, as data: drawn first and carried out later, so that a list of them can be cut down. */
export interface PlannedFault {
  readonly fault: PlannedFaultName
  /** When, in milliseconds since the world began. */
  readonly at: number
  /** Which machine, of those there are: counted around. */
  readonly machine: number
  /** How long it lasts, or how far a clock is set forward; back where it is negative. */
  readonly ms: number
  /** Where an ambush is laid. */
  readonly statement: string
  readonly point: Point
  /** Which of its next events a process does not survive. */
  readonly n: number
}

/**
 * Each as often as has been found useful. Not among them: leaps, of which a store that goes by the host's clock makes
 * another time, and steps of the database's clock, which do so for all.
 */
export const FAULT_WEIGHTS: FaultWeights = {
  kill: 1, killAtEvent: 2, killAtStatement: 4, close: 1, pause: 2, stall: 2, leaseRace: 1, partition: 2, hang: 1, outage: 0.5, diskFull: 0.5, shardLocked: 1, clockStep: 1,
  join: 0.5, leave: 0.5, deploy: 0.2,
} // biome-ignore format: a list

/** Longer, and the clock of the shard would be late: the documentation says so to users. */
const LOCKED_MS_MAX = 2_000

/** What befalls everybody. */
const GLOBAL_FAULTS = {
  outage: (world: World, { ms }: PlannedFault) => world.outage(ms),
  diskFull: (world: World, { ms }: PlannedFault) => world.fillDisk(ms),
  databaseStep: (world: World, { ms }: PlannedFault) => world.stepDatabase(ms),
  shardLocked: (world: World, { ms, n }: PlannedFault) => world.lockShard(n, Math.min(ms, LOCKED_MS_MAX)),
  deploy: (world: World, { ms }: PlannedFault) => world.deploy(ms),
}

type Injector = (world: World, process: SimulatedProcess, planned: PlannedFault) => void

/** What befalls one process. */
const PROCESS_FAULTS: Readonly<Record<Exclude<PlannedFaultName, keyof typeof GLOBAL_FAULTS>, Injector>> = {
  kill: (world, process) => world.kill(process),
  killAtEvent: (world, process, { n, point }) =>
    world.killAtEvent(process, n, point === 'sent' ? 'before' : 'after'),
  killAtStatement: (world, process, { statement, point }) => world.killAtStatement(process, statement, point),
  close: (world, process) => void world.close(process),
  pause: (world, process, { ms }) => world.pause(process, ms),
  stall: (world, process, { statement, ms, n }) => world.stall(process, statement, ms, n % 2 === 0),
  leaseRace: (world, process, { n }) => world.leaseRace(process, n),
  partition: (world, process, { ms }) => world.partition(process, ms),
  hang: (world, process, { ms }) => world.hang(process, ms),
  clockStep: (world, process, { ms }) => world.step(process, ms),
  clockLeap: (world, process, { ms }) => world.step(process, ms),
  join: (world, { machine }) => void world.join(machine),
  leave: (world, process) => void world.leave(process),
}

/** Where a process may be ambushed. */
const STATEMENTS = [
  'set', 'claim.peek', 'claim', 'settle', 'transact.begin', 'transact.settle', 'transact.commit', 'heartbeat',
  'acquire.register', 'acquire.mark_dead', 'acquire.shards', 'acquire.recover', 'leases.commit', 'give_up', 'edit.select', 'edit.commit', 'release',
] as const // biome-ignore format: a list
const POINTS = ['sent', 'ran', 'answered'] as const
const EVENTS_MAX = 200
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** By hours, by days, and by so much that nobody believes it. */
const LEAPS = [
  [HOUR_MS, DAY_MS],
  [DAY_MS, 300 * DAY_MS],
  [400 * DAY_MS, 4_000 * DAY_MS],
] as const
/** Longer than a statement may travel: what is less is known only when an answer comes quickly. */
const DATABASE_STEPS = [
  [3_000, 10_000],
  [10_000, 120_000],
  [120_000, HOUR_MS],
] as const
const MS_MIN = 100

/** Draws a planned: nothing that takes time takes longer than this. */
export function drawFault(random: Random, weights: FaultWeights, msMax: number, at = 0): PlannedFault {
  const choices = Object.entries(weights) as [PlannedFaultName, number][]
  const fault = random.weighted(choices.map(([each, weight]) => [weight, each]))
  const ms = random.between(Math.min(MS_MIN, msMax), msMax)
  const stepMs = stepOf(random, fault, ms)
  return {
    fault,
    at,
    machine: random.between(0, 2 ** 16 - 1),
    ms: stepMs ?? ms,
    statement: STATEMENTS[random.between(0, STATEMENTS.length - 1)]!,
    point: POINTS[random.between(0, POINTS.length - 1)]!,
    n: random.between(1, EVENTS_MAX),
  }
}

/** How far a clock is set, forward or back; null where no clock is. As many numbers are drawn for every fault. */
function stepOf(random: Random, fault: PlannedFaultName, ms: number): number | null {
  const sign = random.chance(0.5) ? 1 : -1
  const [part, scale] = [random.next(), random.between(0, 2)]
  if (fault === 'clockStep') return sign * Math.min(ms, HOUR_MS - 1)
  const scales = fault === 'clockLeap' ? LEAPS : fault === 'databaseStep' ? DATABASE_STEPS : null
  if (scales === null) return null
  const [least, most] = scales[scale]!
  return sign * Math.floor(least + part * (most - least))
}

/** Lets each happen at its time. */
export function scheduleFaults(world: World, faults: readonly PlannedFault[]): void {
  for (const planned of faults) world.in(planned.at - world.timeline.now, () => inject(world, planned))
}

/** Lets it happen now. One that finds nobody at its machine was tried, and has hit nothing. */
export function inject(world: World, planned: PlannedFault): void {
  const { fault, machine } = planned
  if (isGlobal(fault)) {
    GLOBAL_FAULTS[fault](world, planned)
    return
  }
  const process = world.processOn(machine)
  if (process?.isUp === true) PROCESS_FAULTS[fault](world, process, planned)
  else world.faults.note(fault, false, null)
}

function isGlobal(fault: PlannedFaultName): fault is keyof typeof GLOBAL_FAULTS {
  return fault in GLOBAL_FAULTS
}
