import type { SetCallOptions } from '../../src/library/index.ts'
import type { Fire } from '../../src/targets/index.ts'
import type { When } from '../../src/time/index.ts'
import { wrongEndings } from './endings.ts'
import type { Machine, SimulatedProcess } from './process.ts'
import type { Skew } from './process-clock.ts'
import type { SimulatedBackend } from './simulated-backend.ts'
import { simulatedWorld } from './simulated-world.ts'
import { StartLog } from './start-log.ts'
import type { World, WorldOptions } from './world.ts'

/** A small world without random faults, short enough to be run many times. */
export interface MinimalScenario {
  readonly world: World<SimulatedBackend>
  readonly startLog: StartLog
  /** The alarms whose set was answered. */
  readonly ids: string[]
  readonly machines: readonly Machine[]
}

/** Options of a minimal scenario. */
export interface MinimalScenarioOptions extends Partial<WorldOptions> {
  readonly machines?: readonly string[]
  /** How many alarms of each kind. */
  readonly each?: number
  /** The clock error of each machine; small by default. */
  readonly skew?: (world: World) => Skew
}

const LEASE_MS = 2_000
const HEARTBEAT_MS = 700
const RESTART_MS = 1_000
const SET_FROM_MS = 300
const SET_WITHIN_MS = 4_000

/** One alarm of each kind: plain, failing once, transactional, reporting, to the log, and recurring. */
const KINDS: readonly { readonly when: When; readonly options: SetCallOptions }[] = [
  { when: { delay: '2s' }, options: { target: 'work' } },
  { when: { delay: '3s' }, options: { target: 'stumble' } },
  { when: { delay: '4s' }, options: { target: 'chain' } },
  { when: { delay: '5s' }, options: { target: 'report', ack: 'report' } },
  { when: { delay: '6s' }, options: { target: { event: true } } },
  { when: { every: '3s', misfire: 'all' }, options: { target: 'work' } },
  { when: { every: '4s', misfire: 'all' }, options: { target: { event: true } } },
]
/** The number of kinds. */
export const KIND_COUNT = KINDS.length
const RETRY: SetCallOptions = { backoff: { baseMs: 200, capMs: 1_000 }, maxFailures: 12 }

/** Two processes and a few alarms of each kind, set within the first seconds. */
export function minimalScenario({
  machines: names = ['ant', 'bee'],
  each = 1,
  skew = (world) => world.skew(),
  ...options
}: MinimalScenarioOptions = {}): MinimalScenario {
  const world = simulatedWorld({
    seed: 1,
    shards: 4,
    leaseMs: LEASE_MS,
    heartbeatMs: HEARTBEAT_MS,
    ...options,
  })
  const startLog = new StartLog(world)
  const ids: string[] = []
  const registerHandlers = (process: SimulatedProcess) => registerHandlersOn(process, startLog)
  const machines = names.map((name) => ({ name, skew: skew(world), registerHandlers, restartMs: RESTART_MS }))
  for (const machine of machines) world.launch(machine)
  for (let i = 0; i < each * KINDS.length; i++) {
    const by = world.random.between(0, names.length - 1)
    world.in(SET_FROM_MS + world.random.next() * SET_WITHIN_MS, () => void setOne(world, by, i, ids))
  }
  return { world, startLog, ids, machines }
}

/** The problems found in a minimal scenario. Everything due by `until` must have ended. */
export function problemsOf({ world, startLog, ids }: MinimalScenario, until: number): string[] {
  const { alarmIds } = world.backend.database.tables
  return [
    ...wrongEndings(world, until),
    ...ids.filter((id) => alarmIds.get(id) === undefined).map((id) => `${id} was set, and is not there`),
    ...startLog.early.map(({ occurrenceId, at }) => `${occurrenceId} started early, at ${at}`),
    ...startLog.unfenced.map(
      ({ occurrenceId, process }) => `${occurrenceId} was started by ${process}, no owner`,
    ),
  ]
}

function registerHandlersOn(process: SimulatedProcess, startLog: StartLog): void {
  const { wakeful } = process
  const work = async (fire: Fire) => {
    startLog.note(process, fire)
    await process.sleep(process.random.between(1, 300))
  }
  wakeful.handle('work', work)
  wakeful.handle('stumble', async (fire) => {
    await work(fire)
    if (fire.attempt === 1) throw new Error('stumbled')
  })
  wakeful.handle('report', async (fire) => {
    await work(fire)
    fire.complete('done')
  })
  const chain = async (fire: Fire) => {
    await work(fire)
    const idempotencyKey = fire.occurrence.id
    await wakeful.set({ delay: '2s' }, { target: 'work', idempotencyKey, tx: fire.tx, ...RETRY })
  }
  wakeful.handle('chain', chain, { transactional: true })
}

/** Sets an alarm through one machine. There is no answer if the machine is down. */
async function setOne(world: World, by: number, i: number, ids: string[]): Promise<void> {
  const process = world.processOn(by)
  if (process?.isUp !== true) return
  const { when, options } = KINDS[i % KINDS.length]!
  try {
    const { id } = await process.wakeful.set(when, { ...RETRY, ...options })
    if (!process.isDead) ids.push(id)
  } catch {
    // Whether it was set is unknown.
  }
}
