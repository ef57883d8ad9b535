import { Random } from '../random.ts'
import type { AlarmPlan, Edit, Scope, TargetKind, Task } from './alarm-plan.ts'
import { ANSWER_MS_MAX, type Conditions, FAULTY, NORMAL } from './conditions.ts'
import { drawMoment, drawTiming, type Span } from './draw-timing.ts'
import type { FaultName } from './faults.ts'
import {
  drawFault,
  FAULT_WEIGHTS,
  type FaultWeights,
  type PlannedFault,
  pastLeaseMs,
} from './planned-faults.ts'
import type { Timing } from './timing.ts'

/** The kind of run. */
export type Kind = 'rush' | 'crowd' | 'year' | 'boot'

/** Everything decided before a run begins, as data. A failing plan is shrunk by leaving parts out. */
export interface Plan {
  readonly seed: number
  readonly kind: Kind
  readonly machines: number
  readonly shards: number
  readonly leaseMs: number
  readonly heartbeatMs: number
  readonly upkeepMs: number
  /** Occurrences later than this are misfires (default: a minute). */
  readonly graceMs?: number
  /** How long after its death a process is replaced (default: 1.5 s). */
  readonly restartMs?: number
  /** The number of deliveries a process may run at once. */
  readonly concurrency: number
  readonly conditions: Conditions
  readonly alarms: readonly AlarmPlan[]
  readonly faults: readonly PlannedFault[]
  /** No fault happens from this time on. */
  readonly calmMs: number
  readonly endMs: number
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const RETRIED: ReadonlySet<FaultName> = new Set(['partition', 'outage', 'hang', 'diskFull'])
const RETRIED_MS_MAX = 3_600_000
/** The time that occurrences due at the end of a run have for retries, timeouts and takeovers. */
export const AFTERMATH_MS = 45_000

/** The owners of the alarms. The log reader follows the first owner's log. */
export const SCOPES: readonly [Scope, ...Scope[]] = [
  { tenant: 'default', owner: '' },
  { tenant: 'default', owner: 'ann' },
  { tenant: 'acme', owner: '' },
]
/** The plan of a seed: processes, alarms, users' calls and faults. */
export function planOf(seed: number, kind: Exclude<Kind, 'boot'> = kindOf(seed)): Plan {
  const random = new Random(seed)
  if (kind === 'year') return yearPlan(seed, random)
  return rushPlan(seed, random, kind)
}

/** One seed in a hundred is a year, one in a thousand a crowd of processes. */
function kindOf(seed: number): Exclude<Kind, 'boot'> {
  if (seed % 100 === 99) return 'year'
  return seed % 1_000 === 500 ? 'crowd' : 'rush'
}

/** A busy minute or two with many faults, and leases as short as in production. */
function rushPlan(seed: number, random: Random, kind: Kind): Plan {
  const isCrowd = kind === 'crowd'
  const calmMs = random.between(40, 90) * SECOND_MS
  const endMs = calmMs + random.between(11, 18) * SECOND_MS + AFTERMATH_MS
  const burstMs = random.between(3_000, calmMs * 0.7)
  const span: Span = { calmMs, endMs, burstMs, tickMsMin: 4_000, tickMsMax: 20_000 }
  const alarms = random.between(10, isCrowd ? 120 : 48)
  const leaseMs = 5_000
  return {
    seed,
    kind,
    machines: isCrowd ? random.between(100, 300) : random.weighted([[1, 1], [2, 2], [3, 3], [2, 5], [1, 8]] as const),
    shards: isCrowd ? 64 : random.weighted([[1, 1], [1, 4], [3, 16], [1, 64]] as const),
    leaseMs,
    heartbeatMs: 2_000,
    upkeepMs: MINUTE_MS,
    // Faults last for seconds. With the default grace period nothing would be a misfire.
    ...(seed % 3 === 0 && { graceMs: 2 * SECOND_MS }),
    concurrency: random.weighted([[1, 3], [1, 10], [3, 100]] as const),
    conditions: drawConditions(random),
    alarms: Array.from({ length: alarms }, (_, i) => drawAlarm(random, `${i}`, span)),
    faults: drawFaults(random, { calmMs, leaseMs }, isCrowd ? 40 : random.weighted([[1, 10], [2, 25], [1, 60]] as const), 12_000),
    calmMs,
    endMs,
  } // biome-ignore format: tables of weights
}

/** A year of calendar alarms, with rare heartbeats so that it runs quickly. */
function yearPlan(seed: number, random: Random): Plan {
  const calmMs = 365 * DAY_MS
  const endMs = calmMs + 2 * DAY_MS
  const span: Span = {
    calmMs,
    endMs,
    burstMs: random.between(0, calmMs),
    tickMsMin: DAY_MS / 4,
    tickMsMax: 30 * DAY_MS,
  }
  const leaseMs = DAY_MS / 2
  return {
    seed,
    kind: 'year',
    machines: random.between(1, 4),
    shards: 8,
    leaseMs,
    heartbeatMs: DAY_MS / 6,
    upkeepMs: DAY_MS,
    concurrency: 100,
    conditions: drawConditions(random),
    alarms: Array.from({ length: random.between(8, 24) }, (_, i) => drawAlarm(random, `${i}`, span)),
    faults: drawFaults(random, { calmMs, leaseMs }, random.between(20, 200), DAY_MS),
    calmMs,
    endMs,
  }
}

/**
 * Some runs have normal conditions, so that planned faults are tested alone. Others have some of the network faults,
 * with varying probability.
 */
export function drawConditions(random: Random): Conditions {
  if (random.chance(0.3)) return NORMAL
  const kept = Object.entries(FAULTY).filter(() => random.chance(0.6))
  return Object.fromEntries(kept.map(([fault, chance]) => [fault, chance * random.next() * 3]))
}

const DEADLY: ReadonlySet<PlannedFault['fault']> = new Set([
  'kill', 'killAtEvent', 'killAtStatement', 'close', 'leave', 'deploy',
]) // biome-ignore format: a list

/**
 * A process that cannot reach the database retries every few seconds. A day of that costs much time and shows nothing
 * more.
 */
function shortened(planned: PlannedFault): PlannedFault {
  return RETRIED.has(planned.fault) ? { ...planned, ms: Math.min(planned.ms, RETRIED_MS_MAX) } : planned
}

/** Draws the faults of a run. Each kind is left out of some runs, because frequent faults hide rare ones. */
function drawFaults(
  random: Random,
  { calmMs, leaseMs }: Pick<Plan, 'calmMs' | 'leaseMs'>,
  count: number,
  msMax: number,
): PlannedFault[] {
  // The death of a process hides its bugs, so in some runs no process dies.
  const spares = random.chance(0.25)
  const kept = Object.entries(FAULT_WEIGHTS).filter(
    ([fault]) => random.chance(0.7) && !(spares && DEADLY.has(fault as PlannedFault['fault'])),
  )
  const weights = (kept.length > 0 ? Object.fromEntries(kept) : FAULT_WEIGHTS) as FaultWeights
  const moments = Array.from({ length: count }, () => random.between(1_000, calmMs - 1_000))
  const faults = moments
    .sort((a, b) => a - b)
    .map((at) => drawFault(random, weights, Math.min(msMax, calmMs - at), at))
    .map(shortened)
  return faults.filter((planned) => isOverBy(calmMs, planned, leaseMs))
}

/**
 * Whether a fault is over by the calm. If it is not, what it delays looks like a bug: a lease race may pause the only
 * process for seven seconds more. Faults that are not named here last for at most `ms`, which ends in time.
 */
function isOverBy(calmMs: number, planned: PlannedFault, leaseMs: number): boolean {
  const { fault, at, ms } = planned
  // A process that waits on a hanging connection gives up only then.
  if (fault === 'hang') return at + ms + ANSWER_MS_MAX < calmMs
  if (fault === 'leaseRace') return at + leaseMs + pastLeaseMs(planned) < calmMs
  return true
}

function drawAlarm(random: Random, name: string, span: Span): AlarmPlan {
  const atMs = random.chance(0.5) ? random.between(300, 5_000) : random.between(300, span.calmMs * 0.7)
  const target = random.weighted<TargetKind>([[5, 'work'], [2, 'write'], [1, 'inline'], [2, 'remote'], [2, 'event']]) // biome-ignore format: a table
  const isKeyed = random.chance(0.25)
  const isOnce = random.chance(0.35)
  const timing = drawTiming(random, atMs, span, isOnce)
  const task = drawTask(random, target, isOnce)
  return {
    name,
    scope: SCOPES[random.between(0, SCOPES.length - 1)]!,
    atMs,
    timing,
    target,
    task,
    isKeyed,
    isRetried: random.chance(0.7) && !isKeyed && !('count' in timing),
    // Kills must not use up the attempts, or a failure would excuse a lost delivery. But an alarm that always fails
    // must end.
    maxFailures:
      random.chance(0.2) || task.reports.some(({ succeeded }) => !succeeded) ? random.between(1, 4) : 100_000,
    priority: random.between(-1, 1),
    overlap: random.weighted([[2, 'skip'], [1, 'queue'], [1, 'allow']] as const), // biome-ignore format: a table
    edits: drawEdits(random, atMs, timing, span, isOnce),
  }
}

/**
 * Recurring alarms have quick targets, so that they catch up once the faults stop. Others may hang, or report late or
 * never.
 */
function drawTask(random: Random, target: TargetKind, isOnce: boolean): Task {
  const reports = random.weighted([[6, 1], [2, 2], [isOnce ? 1 : 0, 0]] as const) // biome-ignore format: a table
  const isLate = () => isOnce && random.chance(0.15)
  return {
    workMs: random.between(0, isOnce && random.chance(0.2) ? 2_500 : 120),
    failures: random.chance(0.15) ? random.between(1, isOnce && random.chance(0.2) ? 12 : 3) : 0,
    hangs: isOnce && target !== 'write' && random.chance(0.1),
    reports: Array.from({ length: reports }, () => ({
      afterMs: isLate() ? random.between(2_500, 5_000) : random.between(0, 300),
      succeeded: random.chance(0.85),
    })),
  }
}

/** Draws the user's later calls, often right at a due instant. */
function drawEdits(random: Random, atMs: number, timing: Timing, span: Span, isOnce: boolean): Edit[] {
  const count = random.weighted([[3, 0], [2, 1], [1, 2], [1, 4]] as const) // biome-ignore format: a table
  const edits: Edit[] = []
  let [fromMs, current] = [atMs, timing]
  for (let i = 0; i < count; i++) {
    fromMs = drawMoment(random, fromMs, current, span)
    const kind = random.weighted<Edit['kind']>([[3, 'cancel'], [4, 'reschedule'], [2, 'foreign_access'], [1, 'pause']]) // biome-ignore format: a table
    if (kind === 'reschedule') current = drawTiming(random, fromMs, span, isOnce)
    edits.push({
      atMs: fromMs,
      // Without another draw, so that the rest of the plan stays what its seed has always been.
      kind: kind === 'reschedule' && isOnce && Math.floor(fromMs) % 3 === 0 ? 'snooze' : kind,
      ...drawTrigger(random),
      ...(kind === 'reschedule' && { timing: current }),
    })
    if (kind === 'pause' && random.chance(0.8)) {
      fromMs += random.between(1, span.tickMsMax)
      edits.push({ atMs: fromMs, kind: 'resume' })
    }
  }
  return edits.filter((edit) => edit.atMs < span.calmMs)
}

/** Statements that a user's call races with. */
const BAD_MOMENTS = [
  'claim',
  'claim',
  'settle',
  'transact.settle',
  'transact.commit',
  'acquire.shards',
] as const

function drawTrigger(random: Random): Pick<Edit, 'on'> {
  const statement = BAD_MOMENTS[random.between(0, BAD_MOMENTS.length - 1)]!
  const point = random.weighted([[1, 'sent'], [2, 'ran'], [1, 'answered']] as const) // biome-ignore format: a table
  return random.chance(0.4) ? { on: { statement, point } } : {}
}
