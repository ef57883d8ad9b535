import { Random } from '../random.ts'
import type { AlarmPlan, Edit } from './alarm-plan.ts'
import { drawMoment, drawTiming, type Span } from './draw-timing.ts'
import { AFTERMATH_MS, drawConditions, type Plan, SCOPES } from './plan.ts'
import { drawFault, type FaultWeights, type PlannedFault } from './planned-faults.ts'
import type { Timing } from './timing.ts'

const SECOND_MS = 1_000
/** Programs are replaced, die, or cannot reach the database, so that ticks come due while none runs. */
const WEIGHTS: FaultWeights = {
  kill: 2,
  close: 2,
  deploy: 3,
  pause: 1,
  partition: 1,
  outage: 0.5,
  clockStep: 0.5,
}
const FAULT_MS_MAX = 10_000
/** How long before the calm the last fault ends: what it has delayed must not look like a bug. */
const QUIET_MS = 12_000

/**
 * A plan of programs that declare their recurring alarms at every start, by `set` or by `apply`, with downtimes, pauses and
 * changes of the definitions.
 */
export function bootPlanOf(seed: number): Plan {
  const random = new Random(seed)
  const calmMs = random.between(60, 120) * SECOND_MS
  const restartMs = random.between(1_500, 15_000)
  const endMs = calmMs + random.between(11, 18) * SECOND_MS + restartMs + FAULT_MS_MAX + AFTERMATH_MS
  const span: Span = { calmMs, endMs, burstMs: 0, tickMsMin: 2_000, tickMsMax: 15_000 }
  return {
    seed,
    kind: 'boot',
    machines: random.weighted([[3, 1], [2, 2], [1, 3]] as const),
    shards: random.weighted([[1, 1], [1, 8]] as const),
    leaseMs: 5_000,
    heartbeatMs: 2_000,
    upkeepMs: 60_000,
    ...(random.chance(0.7) && { graceMs: random.between(200, 2_000) }),
    restartMs,
    concurrency: 100,
    conditions: drawConditions(random),
    alarms: Array.from({ length: random.between(3, 15) }, (_, i) => drawDeclared(random, `${i}`, span)),
    faults: drawDowntimes(random, calmMs - QUIET_MS - restartMs),
    calmMs,
    endMs,
  } // biome-ignore format: tables of weights
}

function drawDowntimes(random: Random, untilMs: number): PlannedFault[] {
  const moments = Array.from({ length: random.between(3, 15) }, () => random.between(1_000, untilMs - 1_000))
  return moments
    .sort((a, b) => a - b)
    .map((at) => drawFault(random, WEIGHTS, Math.min(FAULT_MS_MAX, untilMs - at), at))
}

function drawDeclared(random: Random, name: string, span: Span): AlarmPlan {
  const atMs = random.between(300, 5_000)
  const timing = drawRecurring(random, atMs, span)
  return {
    name,
    scope: SCOPES[random.between(0, SCOPES.length - 1)]!,
    atMs,
    timing,
    target: random.weighted([[3, 'work'], [1, 'write'], [1, 'event']] as const),
    task: { workMs: random.between(0, 120), failures: random.chance(0.2) ? 1 : 0, hangs: false, reports: [] },
    isKeyed: true,
    declaredBy: random.chance(0.5) ? 'set' : 'apply',
    isRetried: false,
    maxFailures: 100_000,
    priority: 0,
    overlap: 'skip',
    edits: drawEdits(random, atMs, timing, span),
  } // biome-ignore format: a table
}

/** A recurring timing without an end: an alarm that has ended starts afresh when it is declared. */
function drawRecurring(random: Random, fromMs: number, span: Span): Timing {
  for (;;) {
    const timing = drawTiming(random, fromMs, span, false)
    if (timing.kind !== 'once' && !('count' in timing)) return timing
  }
}

function drawEdits(random: Random, atMs: number, timing: Timing, span: Span): Edit[] {
  const edits: Edit[] = []
  let [fromMs, current] = [atMs, timing]
  for (let left = random.between(0, 4); left > 0; left--) {
    fromMs = drawMoment(random, fromMs, current, span)
    if (random.chance(0.5)) {
      current = drawRecurring(random, fromMs, span)
      edits.push({ atMs: fromMs, kind: 'reschedule', timing: current })
      continue
    }
    edits.push({ atMs: fromMs, kind: 'pause' })
    fromMs += random.between(1_000, 2 * span.tickMsMax)
    if (random.chance(0.8)) edits.push({ atMs: fromMs, kind: 'resume' })
  }
  return edits.filter((edit) => edit.atMs < span.calmMs)
}
