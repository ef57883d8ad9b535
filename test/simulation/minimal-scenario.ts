import type { SetCallOptions } from '../../src/library/index.ts'
import type { Fire } from '../../src/targets/index.ts'
import type { When } from '../../src/time/index.ts'
import { wrongEndings } from './endings.ts'
import { Ledger } from './start-log.ts'
import type { Machine, SimulatedProcess } from './process.ts'
import type { Skew } from './process-clock.ts'
import type { SimulatedBackend } from './simulated-backend.ts'
import { simulatedWorld } from './simulated-world.ts'
import type { World, WorldOptions } from './world.ts'

/** A small and calm world, short enough to be lived through again and again. */
export interface Hamlet {
  readonly world: World<SimulatedBackend>
  readonly ledger: Ledger
  /** The alarms whose set was answered. */
  readonly ids: string[]
  readonly machines: readonly Machine[]
}

/** How a hamlet is made. */
export interface HamletOptions extends Partial<WorldOptions> {
  readonly machines?: readonly string[]
  /** How many alarms of each kind. */
  readonly each?: number
  /** The clocks of each machine: a little off, where nothing is said. */
  readonly skew?: (world: World) => Skew
}

const LEASE_MS = 2_000
const HEARTBEAT_MS = 700
const RESTART_MS = 1_000
const SET_FROM_MS = 300
const SET_WITHIN_MS = 4_000

/** One alarm of each kind: plain, failing once, transactional, reporting, of the log, recurring, and many at once. */
const KINDS: readonly { readonly when: When; readonly options: SetCallOptions }[] = [
  { when: { delay: '2s' }, options: { target: 'work' } },
  { when: { delay: '3s' }, options: { target: 'stumble' } },
  { when: { delay: '4s' }, options: { target: 'chain' } },
  { when: { delay: '5s' }, options: { target: 'report', ack: 'report' } },
  { when: { delay: '6s' }, options: { target: { event: true } } },
  { when: { every: '3s', misfire: 'all' }, options: { target: 'work' } },
  { when: { every: '4s', misfire: 'all' }, options: { target: { event: true } } },
]
/** How many kinds there are. */
export const EVERYTHING = KINDS.length
const RETRY: SetCallOptions = { backoff: { baseMs: 200, capMs: 1_000 }, maxFailures: 12 }

/** Two processes and a handful of alarms of each kind, set within the first seconds. */
export function hamlet({
  machines: names = ['ant', 'bee'],
  each = 1,
  skew = (world) => world.skew(),
  ...options
}: HamletOptions = {}): Hamlet {
  const world = simulatedWorld({
    seed: 1,
    shards: 4,
    leaseMs: LEASE_MS,
    heartbeatMs: HEARTBEAT_MS,
    ...options,
  })
  const ledger = new Ledger(world)
  const ids: string[] = []
  const equip = (process: SimulatedProcess) => equipWith(process, ledger)
  const machines = names.map((name) => ({ name, skew: skew(world), equip, restartMs: RESTART_MS }))
  for (const machine of machines) world.launch(machine)
  for (let i = 0; i < each * KINDS.length; i++) {
    const by = world.random.between(0, names.length - 1)
    world.in(SET_FROM_MS + world.random.next() * SET_WITHIN_MS, () => void setOne(world, by, i, ids))
  }
  return { world, ledger, ids, machines }
}

/** What went wrong in a hamlet, in words: nothing, where every promise was kept. What came due by then has ended. */
export function wrongsOf({ world, ledger, ids }: Hamlet, until: number): string[] {
  const { alarmIds } = world.backend.database.tables
  return [
    ...wrongEndings(world, until),
    ...ids.filter((id) => alarmIds.get(id) === undefined).map((id) => `${id} was set, and is not there`),
    ...ledger.early.map(({ occurrenceId, at }) => `${occurrenceId} started early, at ${at}`),
    ...ledger.unfenced.map(
      ({ occurrenceId, process }) => `${occurrenceId} was started by ${process}, no owner`,
    ),
  ]
}

function equipWith(process: SimulatedProcess, ledger: Ledger): void {
  const { wakeful } = process
  const work = async (fire: Fire) => {
    ledger.note(process, fire)
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

/** Sets an alarm by a user of one machine, who gets no answer where that is down. */
async function setOne(world: World, by: number, i: number, ids: string[]): Promise<void> {
  const process = world.processOn(by)
  if (process?.isUp !== true) return
  const { when, options } = KINDS[i % KINDS.length]!
  try {
    const { id } = await process.wakeful.set(when, { ...RETRY, ...options })
    if (!process.isDead) ids.push(id)
  } catch {
    // Whether it was set is not known.
  }
}
