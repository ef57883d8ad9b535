import type { SetCallOptions } from '../../src/library/index.ts'
import type { Fire } from '../../src/targets/index.ts'
import type { When } from '../../src/time/index.ts'
import type { SimulatedProcess } from './process.ts'
import { World } from './world.ts'

/** One start of a delivery. */
export interface Delivered {
  readonly occurrenceId: string
  /** True time. */
  readonly at: number
  readonly scheduledFor: number
  readonly attempt: number
}

/** What became of a smoke run. */
export interface Smoke {
  readonly world: World
  /** The ids of the alarms whose set was answered. */
  readonly ids: readonly string[]
  readonly deliveries: readonly Delivered[]
}

const HOUR_MS = 3_600_000
const ALARMS = 200
const MACHINES = ['ant', 'bee', 'cat']
const KILLED_AT_MS = 10 * HOUR_MS
const DOWN_MS = 30_000
/** The last alarms are set this long before the end, and what came due then has ended. */
const SET_WITHIN_MS = 4 * HOUR_MS
const DAY_MS = 24 * HOUR_MS

/** Three processes, two hundred alarms of different kinds over a virtual day; one process is killed and comes back. */
export async function smoke(seed: number): Promise<Smoke> {
  const world = new World({ seed, shards: 8, leaseMs: 60_000, heartbeatMs: 20_000 })
  const ids: string[] = []
  const deliveries: Delivered[] = []
  const equip = (process: SimulatedProcess) => equipWith(world, process, deliveries)
  for (const machine of MACHINES) world.launch(machine, equip)
  for (let i = 0; i < ALARMS; i++)
    world.in(1_000 + world.random.next() * SET_WITHIN_MS, () => void setOne(world, i, ids))
  world.in(KILLED_AT_MS, () => killWhileBusy(world, equip))
  await world.run(DAY_MS)
  return { world, ids, deliveries }
}

function equipWith(world: World, process: SimulatedProcess, deliveries: Delivered[]): void {
  const { random } = process
  const deliver = async (fire: Fire) => {
    const { id, scheduledFor } = fire.occurrence
    world.note(process.name, `delivers ${id} attempt ${fire.attempt}`)
    deliveries.push({
      occurrenceId: id,
      at: world.now,
      scheduledFor: scheduledFor.getTime(),
      attempt: fire.attempt,
    })
    await process.sleep(random.between(1, 3_000))
    if (random.chance(0.1)) throw new Error('no luck')
  }
  process.wakeful.handle('work', deliver)
  process.wakeful.handle('report', async (fire) => {
    await deliver(fire)
    fire.complete('done')
  })
}

/** Sets an alarm by one of the processes that are up. */
async function setOne(world: World, i: number, ids: string[]): Promise<void> {
  const up = world.processes.filter((process) => process.isUp)
  const process = up[world.random.between(0, up.length - 1)]!
  const { when, options } = alarmOf(world, i)
  const { id } = await process.wakeful.set(when, { target: 'work', label: `${i}`, ...options })
  world.note(process.name, `set ${id}`)
  ids.push(id)
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
  ]
  return { options: {}, ...kinds[i % kinds.length]!() }
}

/** Waits for a process that is delivering something, and kills that one. */
function killWhileBusy(world: World, equip: (process: SimulatedProcess) => void): void {
  const flight = world.database.tables.flights.values()[0]
  if (flight === undefined) {
    world.in(10, () => killWhileBusy(world, equip))
    return
  }
  const { owner } = world.database.tables.shards.get(flight.shard)!
  const process = world.processes.find(({ name }) => name === owner)!
  world.kill(process)
  world.in(DOWN_MS, () => world.launch(process.name.split('.')[0]!, equip))
}
