import type { Random } from '../random.ts'
import type { FaultName } from './faults.ts'
import type { Point } from './network.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** The faults that can be injected at a planned time. Network faults of single statements are drawn separately. */
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

/** The relative frequency of each fault. A fault that is not named does not happen. */
export type FaultWeights = Partial<Readonly<Record<PlannedFaultName, number>>>

/** One planned fault, as data: drawn first and injected later, so that a list of them can be shrunk. */
export interface PlannedFault {
  readonly fault: PlannedFaultName
  /** When, in milliseconds since the world began. */
  readonly at: number
  /** The index of the machine, modulo the number of machines. */
  readonly machine: number
  /** How long it lasts, or how far a clock is set forward; negative for back. */
  readonly ms: number
  /** The statement at which a process is killed or stalled. */
  readonly statement: string
  readonly point: Point
  /** The event, counted from now, at which a process is killed. */
  readonly n: number
}

/**
 * The weights that have proved useful. Not included: clock leaps, which change the time of a store that uses the host's
 * clock, and steps of the database's clock, which change it for all.
 */
export const FAULT_WEIGHTS: FaultWeights = {
  kill: 1, killAtEvent: 2, killAtStatement: 4, close: 1, pause: 2, stall: 2, leaseRace: 1, partition: 2, hang: 1, outage: 0.5, diskFull: 0.5, shardLocked: 1, clockStep: 1,
  join: 0.5, leave: 0.5, deploy: 0.2,
} // biome-ignore format: a list

/** A longer lock would delay the shard, as the documentation tells users. */
const LOCKED_MS_MAX = 2_000

/** How much longer than its lease a lease race pauses a process. */
export function pastLeaseMs({ n }: PlannedFault): number {
  return 10 * n
}

/** Faults that affect all processes. */
const GLOBAL_FAULTS = {
  outage: (world: World, { ms }: PlannedFault) => world.outage(ms),
  diskFull: (world: World, { ms }: PlannedFault) => world.fillDisk(ms),
  databaseStep: (world: World, { ms }: PlannedFault) => world.stepDatabase(ms),
  shardLocked: (world: World, { ms, n }: PlannedFault) => world.lockShard(n, Math.min(ms, LOCKED_MS_MAX)),
  deploy: (world: World, { ms }: PlannedFault) => world.deploy(ms),
}

type Injector = (world: World, process: SimulatedProcess, planned: PlannedFault) => void

/** Faults that affect one process. */
const PROCESS_FAULTS: Readonly<Record<Exclude<PlannedFaultName, keyof typeof GLOBAL_FAULTS>, Injector>> = {
  kill: (world, process) => world.kill(process),
  killAtEvent: (world, process, { n, point }) =>
    world.killAtEvent(process, n, point === 'sent' ? 'before' : 'after'),
  killAtStatement: (world, process, { statement, point }) => world.killAtStatement(process, statement, point),
  close: (world, process) => void world.close(process),
  pause: (world, process, { ms }) => world.pause(process, ms),
  stall: (world, process, { statement, ms, n }) => world.stall(process, statement, ms, n % 2 === 0),
  leaseRace: (world, process, planned) => world.leaseRace(process, pastLeaseMs(planned)),
  partition: (world, process, { ms }) => world.partition(process, ms),
  hang: (world, process, { ms }) => world.hang(process, ms),
  clockStep: (world, process, { ms }) => world.step(process, ms),
  clockLeap: (world, process, { ms }) => world.step(process, ms),
  join: (world, { machine }) => void world.join(machine),
  leave: (world, process) => void world.leave(process),
}

/** The statements at which a process may be killed. */
const STATEMENTS = [
  'set', 'claim.peek', 'claim', 'settle', 'transact.begin', 'transact.settle', 'transact.commit', 'heartbeat',
  'acquire.register', 'acquire.mark_dead', 'acquire.shards', 'acquire.recover', 'leases.commit', 'give_up', 'edit.select', 'edit.commit', 'release',
] as const // biome-ignore format: a list
const POINTS = ['sent', 'ran', 'answered'] as const
const EVENTS_MAX = 200
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** By hours, by days, and by so much that Wakeful rejects it. */
const LEAPS = [
  [HOUR_MS, DAY_MS],
  [DAY_MS, 300 * DAY_MS],
  [400 * DAY_MS, 4_000 * DAY_MS],
] as const
/** Longer than a round trip. A smaller step is noticed only when a response arrives quickly. */
const DATABASE_STEPS = [
  [3_000, 10_000],
  [10_000, 120_000],
  [120_000, HOUR_MS],
] as const
const MS_MIN = 100

/** Draws a fault that lasts at most `msMax`. */
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

/** How far a clock is set, or null if the fault is not about a clock. Every fault draws equally many numbers. */
function stepOf(random: Random, fault: PlannedFaultName, ms: number): number | null {
  const sign = random.chance(0.5) ? 1 : -1
  const [part, scale] = [random.next(), random.between(0, 2)]
  if (fault === 'clockStep') return sign * Math.min(ms, HOUR_MS - 1)
  const scales = fault === 'clockLeap' ? LEAPS : fault === 'databaseStep' ? DATABASE_STEPS : null
  if (scales === null) return null
  const [least, most] = scales[scale]!
  return sign * Math.floor(least + part * (most - least))
}

/** Schedules each fault at its time. */
export function scheduleFaults(world: World, faults: readonly PlannedFault[]): void {
  for (const planned of faults) world.in(planned.at - world.timeline.now, () => inject(world, planned))
}

/** Injects a fault now. If the machine has no process, the fault is counted but hits nothing. */
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
