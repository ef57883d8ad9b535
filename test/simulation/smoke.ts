import { errorText } from '../../src/error.ts'
import type { SetCallOptions } from '../../src/library/index.ts'
import type { Fire } from '../../src/targets/index.ts'
import type { When } from '../../src/time/index.ts'
import { Ledger } from './ledger.ts'
import type { SimulatedProcess } from './process.ts'
import type { SimulatedBackend } from './simulated-backend.ts'
import { carryOut, draw, STRIKES } from './strikes.ts'
import { CALM } from './weather.ts'
import { simulatedWorld, type World } from './world.ts'

/** What became of a smoke run. */
export interface Smoke {
  readonly world: World<SimulatedBackend>
  /** The ids of the alarms whose set was answered. */
  readonly ids: readonly string[]
  readonly ledger: Ledger
}

const HOUR_MS = 3_600_000
const ALARMS = 200
const MACHINES = ['ant', 'bee', 'cat']
const KILLED_AT_MS = 10 * HOUR_MS
const DOWN_MS = 30_000
/** The last alarms are set this long before the end, and what came due then has ended. */
const SET_WITHIN_MS = 4 * HOUR_MS
const DAY_MS = 24 * HOUR_MS
const STORM_MS = 20 * HOUR_MS
const STRIKE_MS_MAX = 200_000

/** Three processes, two hundred alarms of different kinds over a virtual day; one process is killed and comes back. */
export async function smoke(seed: number): Promise<Smoke> {
  const day = begin(seed)
  day.world.in(KILLED_AT_MS, () => killWhileBusy(day.world))
  await day.world.run(DAY_MS)
  return day
}

/** The same in bad weather: links break, and every now and then a process is killed, paused or cut off. */
export async function storm(seed: number): Promise<Smoke> {
  const day = begin(seed)
  const { world } = day
  world.network.weather = { lostThere: 0.02, lostBack: 0.02, slow: 0.03 }
  for (let at = HOUR_MS; at < STORM_MS; at += world.random.between(1, 60) * 60_000)
    world.in(at, () => carryOut(world, draw(world.random, STRIKES, STRIKE_MS_MAX)))
  world.in(STORM_MS, () => {
    world.network.weather = CALM
  })
  await world.run(DAY_MS)
  return day
}

function begin(seed: number): Smoke {
  const world = simulatedWorld({ seed, shards: 8, leaseMs: 60_000, heartbeatMs: 20_000 })
  const ids: string[] = []
  const ledger = new Ledger(world)
  const equip = (process: SimulatedProcess) => equipWith(process, ledger)
  for (const name of MACHINES) world.launch({ name, skew: world.skew(), equip, restartMs: DOWN_MS })
  for (let i = 0; i < ALARMS; i++)
    world.in(1_000 + world.random.next() * SET_WITHIN_MS, () => void setOne(world, i, ids))
  return { world, ids, ledger }
}

function equipWith(process: SimulatedProcess, ledger: Ledger): void {
  const { random } = process
  const deliver = async (fire: Fire) => {
    ledger.note(process, fire)
    await process.sleep(random.between(1, 3_000))
    if (random.chance(0.1)) throw new Error('no luck')
  }
  process.wakeful.handle('work', deliver)
  // What it leaves behind for later commits with its settle, or not at all.
  const chain = async (fire: Fire) => {
    await deliver(fire)
    const id = fire.occurrence.id
    await process.wakeful.set({ delay: '1h' }, { target: 'work', idempotencyKey: id, tx: fire.tx })
  }
  process.wakeful.handle('chain', chain, { transactional: true })
  process.wakeful.handle('report', async (fire) => {
    await deliver(fire)
    fire.complete('done')
  })
}

/** Sets an alarm by one of the processes that are up. */
async function setOne(world: World, i: number, ids: string[]): Promise<void> {
  const up = world.processes.filter((process) => process.isUp)
  const process = up[world.random.between(0, up.length - 1)]
  if (process === undefined) return
  const { when, options } = alarmOf(world, i)
  try {
    const { id } = await process.wakeful.set(when, { target: 'work', label: `${i}`, ...options })
    world.note(process.name, `set ${id}`)
    ids.push(id)
  } catch (thrown) {
    world.note(process.name, `set failed: ${errorText(thrown)}`)
  }
}

function alarmOf(world: World, i: number): { when: When; options: SetCallOptions } {
  const { random } = world
  const minutes = random.between(5, 600)
  const kinds: readonly (() => { when: When; options?: SetCallOptions })[] = [
    () => ({ when: { delay: `${random.between(1, 1_000)}m` } }),
    () => ({ when: { every: `${minutes}m` } }),
    () => ({ when: { every: `${minutes}m`, count: 3 }, options: { ack: 'report', target: 'report' } }),
    () => ({
      when: { cron: `${random.between(0, 59)} */${random.between(1, 6)} * * *`, timezone: 'Europe/Rome' },
    }),
    () => ({ when: { rrule: `FREQ=HOURLY;INTERVAL=${random.between(1, 5)}` } }),
    () => ({ when: { every: `${minutes}m` }, options: { target: { event: true } } }),
    () => ({ when: { delay: `${minutes}m` }, options: { ack: 'report', target: 'report', maxFailures: 2 } }),
    () => ({ when: 'every day at 5pm' }),
    () => ({ when: { every: `${minutes}m` }, options: { target: 'chain' } }),
  ]
  return { options: {}, ...kinds[i % kinds.length]!() }
}

/** Waits for a process that is delivering something, and kills that one. */
function killWhileBusy(world: World<SimulatedBackend>): void {
  const { flights, shards } = world.backend.database.tables
  const owners = flights.values().map(({ shard }) => shards.get(shard)!.owner)
  const process = world.processes.find(({ name }) => owners.includes(name))
  if (process === undefined) world.in(10, () => killWhileBusy(world))
  else world.kill(process)
}
