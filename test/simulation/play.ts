import type { Broken } from '../judge/entries.ts'
import type { Evidence } from '../judge/evidence.ts'
import { type Judgement, judge } from '../judge/judge.ts'
import { ANSWER_MS_MAX } from './conditions.ts'
import type { FaultName } from './faults.ts'
import { Ledger } from './ledger.ts'
import { LogReader } from './log-reader.ts'
import { AFTERMATH_MS, type Plan, SCOPES } from './plan.ts'
import { scheduleFaults } from './planned-faults.ts'
import { GRACE_MS } from './process.ts'
import { simulatedWorld } from './simulated-world.ts'
import { User } from './user.ts'
import { Workers } from './workers.ts'
import type { World, WorldOptions } from './world.ts'

/** What became of a run. */
export interface Played {
  readonly plan: Plan
  readonly world: World
  readonly evidence: Evidence
  readonly judgement: Judgement
}

/** How long after a process's death the next one is started. */
const RESTART_MS = 1_500
/**
 * The bound of liveness: a lease must end, and be taken over, before what a dead process had is delivered by another.
 * With leases as they are by default that is ten seconds.
 */
const CLAIM_MS = 5_000

/** Once all is calm, most of what is due begins within this long: nobody waits for a beat to find it. */
const PUNCTUAL_MS = 500

/** No fault of a process or a link lasts longer. */
const FAULT_MS_MAX = 15_000
/** Nor does what befalls a single statement, unless its answer never comes. */
const STATEMENT_MS_MAX = 4_000
/** Statements whose slowness can cost a process its lease (a beat waits for the last of them), or an attempt its time. */
const TIMED = /^(heartbeat|acquire|give_up|release|leases|transact|set|release_waiting)\b/
/** What the judge calls each fault by which a process may lose its clocks; a death is told apart. */
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

/** What befalls everybody; anything else that befalls nobody in particular has found nobody. */
const GLOBAL_FAULTS: ReadonlySet<FaultName> = new Set([
  'diskFull',
  'outage',
  'fileLocked',
  'shardLocked',
  'databaseStep',
])
/** Of the hands that a process has, one in four more is kept for tenants whom another crowds out. */
const RESERVE = 1 / 4

/** Lets a plan happen, and judges what came of it. */
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
  tellOfFaults(world, plan, ledger)
  populate(world, plan, ledger)
  world.network.conditions = plan.conditions
  scheduleFaults(world, plan.faults)
  await world.run(plan.calmMs - ANSWER_MS_MAX)
  // Who waits on a link that hangs gives it up by the calm.
  world.network.conditions = { ...plan.conditions, hang: 0 }
  await world.run(ANSWER_MS_MAX)
  world.calm()
  ledger.add({ type: 'calm', at: world.now })
  const calmAt = world.now
  await world.run(leaseMs + CLAIM_MS)
  const overdue = world.backend.overdue(calmAt)
  await world.run(plan.endMs - world.timeline.now)
  const evidence = evidenceOf(world, plan, ledger, until, overdue)
  return { plan, world, evidence, judgement: judge(evidence) }
}

/** Brings processes, their targets and their users to life. */
function populate(world: World, plan: Plan, ledger: Ledger): void {
  const workers = new Workers(world, ledger, plan.alarms)
  const { concurrency, graceMs = GRACE_MS } = plan
  for (let i = 1; i <= plan.machines; i++) {
    const registerHandlers = workers.registerHandlers.bind(workers)
    world.launch({
      name: `m${i}`,
      skew: world.skew(),
      registerHandlers,
      restartMs: RESTART_MS,
      concurrency,
      graceMs,
    })
  }
  const parts = { world, ledger, graceMs, began: world.now, until: world.now + plan.endMs }
  for (const alarmPlan of plan.alarms) void new User(alarmPlan, parts).live()
  void new LogReader(world, ledger, SCOPES[0]).follow()
}

/** Writes down what befalls whom: it excuses what is delivered again. */
function tellOfFaults(world: World, { leaseMs }: Plan, ledger: Ledger): void {
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
    // What is slow is waited for: only a lease, or the time that a transactional handler has, runs out over it.
    if (fault === 'slow' && !TIMED.test(statement ?? '')) return
    const run = process === null ? 0 : ledger.runOf({ name: process })
    const lastsMs =
      (statement === undefined || fault === 'hang' ? FAULT_MS_MAX : STATEMENT_MS_MAX) + 2 * leaseMs
    ledger.add({ type: 'broken', run, what, lastsMs, ...moment(process) })
  }
}

function evidenceOf(
  { backend }: World,
  { kind, concurrency, leaseMs }: Plan,
  { entries }: Ledger,
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
    promptMs: leaseMs + CLAIM_MS,
    // Between beats that come seldom, clocks are the more careful: a year's are seconds behind.
    ...(kind !== 'year' && { punctualMs: PUNCTUAL_MS }),
    concurrency: concurrency + Math.floor(concurrency * RESERVE),
    overdue,
    logPositions: backend.logPositionsOf(SCOPES[0], until),
    logAllowed: backend.logPositionsOf(SCOPES[0], Number.MAX_SAFE_INTEGER),
  }
}
