import type { Broken } from '../judge/entries.ts'
import type { Evidence } from '../judge/evidence.ts'
import { type Judgement, judge } from '../judge/judge.ts'
import { ANSWER_MS_MAX } from './conditions.ts'
import type { FaultName } from './faults.ts'
import { Ledger } from './ledger.ts'
import { LogReader } from './log-reader.ts'
import { AFTERMATH_MS, type Plan, SCOPES } from './plan.ts'
import { scheduleFaults } from './planned-faults.ts'
import { GRACE_MS, type SimulatedProcess } from './process.ts'
import { simulatedWorld } from './simulated-world.ts'
import { User } from './user.ts'
import { Workers } from './workers.ts'
import type { World, WorldOptions } from './world.ts'

/** The result of a run. */
export interface Played {
  readonly plan: Plan
  readonly world: World
  readonly evidence: Evidence
  readonly judgement: Judgement
}

/** How long after a process's death the next one is started. */
const RESTART_MS = 1_500
/**
 * The liveness bound: a dead process's lease must end and be taken over before its deliveries start elsewhere. With
 * default leases the sum is ten seconds.
 */
const CLAIM_MS = 5_000
const CLOCK_LAG_MS_MIN = 5_000

/** After the last fault, most deliveries begin within this time: they do not wait for a heartbeat. */
const PUNCTUAL_MS = 500

/** No fault of a process or a connection lasts longer. */
const FAULT_MS_MAX = 15_000
/** Nor does a fault of a single statement, unless its response never comes. */
const STATEMENT_MS_MAX = 4_000
/**
 * Statements whose delay can cost a process its lease (a heartbeat waits for the last of them), or time out an attempt.
 */
const TIMED = /^(heartbeat|acquire|give_up|release|leases|transact|set|release_waiting)\b/
/** The judge's name for each fault through which a process may lose its lease. Deaths are recorded separately. */
const BROKEN: Partial<Record<FaultName, Broken['what']>> = {
  pause: 'stall',
  partition: 'cut',
  clockStep: 'clock',
  databaseStep: 'clock',
  slow: 'slow',
  requestLost: 'lost',
  responseLost: 'lost',
  hang: 'half_open',
  conflict: 'lost',
  diskFull: 'disk_full',
  outage: 'restart',
  fileLocked: 'stall',
  shardLocked: 'stall',
}

/** Faults that affect all processes. Any other fault without a process has hit nothing. */
const GLOBAL_FAULTS: ReadonlySet<FaultName> = new Set([
  'diskFull',
  'outage',
  'fileLocked',
  'shardLocked',
  'databaseStep',
])
/** A process reserves this share of extra slots for tenants that another one crowds out. */
const RESERVE = 1 / 4

/** Runs a plan and judges the result. */
export async function play(
  plan: Plan,
  withTrace = false,
  makeWorld: (options: WorldOptions) => World = simulatedWorld,
): Promise<Played> {
  const { seed, shards, leaseMs, heartbeatMs, upkeepMs } = plan
  const world = makeWorld({
    seed,
    shards,
    leaseMs,
    heartbeatMs,
    upkeepMs,
    trace: withTrace ? 'lines' : 'hash',
  })
  const ledger = new Ledger()
  const until = world.now + plan.endMs - AFTERMATH_MS
  recordFaults(world, plan, ledger)
  populate(world, plan, ledger)
  world.network.conditions = plan.conditions
  scheduleFaults(world, plan.faults)
  await world.run(plan.calmMs - ANSWER_MS_MAX)
  // Processes that wait on a hanging connection give up before the calm.
  world.network.conditions = { ...plan.conditions, hang: 0 }
  await world.run(ANSWER_MS_MAX)
  world.calm()
  ledger.add({ type: 'calm', at: world.now })
  const calmAt = world.now
  await world.run(promptMsOf(plan))
  const overdue = world.backend.overdue(calmAt)
  await world.run(plan.endMs - world.timeline.now)
  const evidence = evidenceOf(world, plan, ledger, until, overdue)
  return { plan, world, evidence, judgement: judge(evidence) }
}

/** Starts the processes, their targets and their users. */
function populate(world: World, plan: Plan, ledger: Ledger): void {
  const workers = new Workers(world, ledger, plan.alarms)
  const { concurrency, graceMs = GRACE_MS, restartMs = RESTART_MS } = plan
  const users: User[] = []
  for (let i = 1; i <= plan.machines; i++) {
    const registerHandlers = workers.registerHandlers.bind(workers)
    const declare = (process: SimulatedProcess) => Promise.all(users.map((user) => user.declare(process)))
    world.launch({
      name: `m${i}`,
      skew: world.skew(),
      registerHandlers,
      ...(plan.kind === 'boot' && { declare }),
      restartMs,
      concurrency,
      graceMs,
    })
  }
  const parts = { world, ledger, graceMs, began: world.now, until: world.now + plan.endMs }
  for (const alarmPlan of plan.alarms) users.push(new User(alarmPlan, parts))
  for (const user of users) void user.run()
  void new LogReader(world, ledger, SCOPES[0]).follow()
}

/** Records faults in the ledger, because they excuse repeated deliveries. */
function recordFaults(world: World, { leaseMs }: Plan, ledger: Ledger): void {
  const moment = (process: string | null) => ({
    at: world.now,
    logEnd: world.backend.logEnd(),
    inFlight: process === null ? 0 : world.backend.inFlight(process),
  })
  world.onDeath = (process) =>
    ledger.add({ type: 'killed', run: ledger.runOf(process), unanswered: 0, ...moment(process.name) })
  world.faults.onFault = (fault, process, statement) => {
    const what = BROKEN[fault]
    if (what === undefined || (process === null && !GLOBAL_FAULTS.has(fault))) return
    // A slow statement only matters if a lease or a transactional handler times out meanwhile.
    if (fault === 'slow' && !TIMED.test(statement ?? '')) return
    const run = process === null ? 0 : ledger.runOf({ name: process })
    const lastsMs =
      (statement === undefined || fault === 'hang' ? FAULT_MS_MAX : STATEMENT_MS_MAX) + 2 * leaseMs
    ledger.add({ type: 'broken', run, what, lastsMs, ...moment(process) })
  }
}

/** A process whose start fails just before the last fault is over is started again after the usual time. */
function promptMsOf({ leaseMs, restartMs }: Plan): number {
  return leaseMs + CLAIM_MS + (restartMs === undefined ? 0 : restartMs + STATEMENT_MS_MAX)
}

function evidenceOf(
  { backend }: World,
  plan: Plan,
  { entries }: Ledger,
  until: number,
  overdue: readonly string[],
): Evidence {
  const { kind, concurrency, heartbeatMs } = plan
  return {
    entries,
    log: backend.records(),
    effects: backend.effects(),
    // Recurring alarms are always pending, so `overdue` lists what should have fired.
    pending: [],
    until,
    promptMs: promptMsOf(plan),
    // A process measures the store's clock once per heartbeat, and counts slowly until the next: 0.07 % with the drift.
    clockLagMs: Math.max(CLOCK_LAG_MS_MIN, heartbeatMs / 1_000),
    // With rare heartbeats, clocks are more conservative: in a year's run they lag by seconds.
    ...(kind !== 'year' && { punctualMs: PUNCTUAL_MS }),
    concurrency: concurrency + Math.floor(concurrency * RESERVE),
    overdue,
    logPositions: backend.logPositionsOf(SCOPES[0], until),
    logAllowed: backend.logPositionsOf(SCOPES[0], Number.MAX_SAFE_INTEGER),
  }
}
