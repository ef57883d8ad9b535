import type { SetCallOptions } from '../../src/library/index.ts'
import type { Fire } from '../../src/targets/index.ts'
import type { When } from '../../src/time/index.ts'
import { FAULTY, NORMAL } from './conditions.ts'
import { drawFault, FAULT_WEIGHTS, type FaultWeights, inject } from './planned-faults.ts'
import type { SimulatedProcess } from './process.ts'
import type { SimulatedBackend } from './simulated-backend.ts'
import { simulatedWorld } from './simulated-world.ts'
import { StartLog } from './start-log.ts'
import type { World } from './world.ts'

const MACHINES = ['ant', 'bee', 'cat', 'dog', 'elk']
const ALARMS = 300
const SET_WITHIN_MS = 30_000
const STORM_MS = 8 * 60_000
const RUSH_MS = 10 * 60_000
const DOWN_MS = 1_500
const FAULT_MS_MAX = 12_000

/**
 * Ten busy minutes with leases as short as in production. A fault hits one of five processes every few seconds, for
 * eight minutes. Then there are no more faults.
 */
export async function rush(
  seed: number,
  faults: FaultWeights = FAULT_WEIGHTS,
): Promise<{ world: World<SimulatedBackend>; startLog: StartLog }> {
  const world = simulatedWorld({ seed, shards: 16 })
  const startLog = new StartLog(world)
  const registerHandlers = (process: SimulatedProcess) => registerHandlersOn(process, startLog)
  for (const name of MACHINES)
    world.launch({ name, skew: world.skew(), registerHandlers, restartMs: DOWN_MS })
  for (let i = 0; i < ALARMS; i++)
    world.in(500 + world.random.next() * SET_WITHIN_MS, () => void setOne(world, i).catch(() => {}))
  world.network.conditions = FAULTY
  for (let at = 5_000; at < STORM_MS; at += world.random.between(200, 8_000))
    world.in(at, () => inject(world, drawFault(world.random, faults, FAULT_MS_MAX)))
  world.in(STORM_MS, () => {
    world.network.conditions = NORMAL
  })
  await world.run(RUSH_MS)
  return { world, startLog }
}

function registerHandlersOn(process: SimulatedProcess, startLog: StartLog): void {
  const { random, wakeful } = process
  wakeful.handle('work', async (fire) => {
    startLog.note(process, fire)
    await process.sleep(random.between(1, 400))
    if (random.chance(0.05)) throw new Error('no luck')
  })
  // The follow-up alarm commits with the settle, or not at all.
  const chain = async (fire: Fire) => {
    startLog.note(process, fire)
    await process.sleep(random.between(1, 300))
    const idempotencyKey = fire.occurrence.id
    await wakeful.set({ delay: '20s' }, { target: 'work', idempotencyKey, tx: fire.tx })
  }
  wakeful.handle('chain', chain, { transactional: true })
}

async function setOne(world: World, i: number): Promise<void> {
  const { random } = world
  const up = world.processes.filter((process) => process.isUp)
  const process = up[random.between(0, up.length - 1)]
  const when: When =
    i % 10 === 0
      ? { delay: `${random.between(1, 400)}s` }
      : { every: `${random.between(5, 60)}s`, misfire: 'all' }
  const target = i % 7 === 0 ? 'chain' : i % 5 === 0 ? { event: true as const } : 'work'
  const options: SetCallOptions = { target, backoff: { baseMs: 500, capMs: 5_000 }, maxFailures: 12 }
  await process?.wakeful.set(when, options)
}
