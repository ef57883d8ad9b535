import { errorText } from '../../../src/error.ts'
import type { SetCallOptions } from '../../../src/library/index.ts'
import type { Fire } from '../../../src/targets/index.ts'
import type { When } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'
import { EFFECT } from '../backend.ts'
import type { SimulatedProcess } from '../process.ts'
import type { StartLog } from '../start-log.ts'
import type { World } from '../world.ts'

/** An answered cancel. */
export interface Cancelled {
  readonly id: string
  readonly outcome: string
  /** How many deliveries had started in the world by then. */
  readonly starts: number
}

/** Failures are retried soon, so that everything has ended at the end. */
const SOON: SetCallOptions = { backoff: { baseMs: 500, capMs: 5_000 }, maxFailures: 12 }

/** Registers the handlers of a process. */
export function registerHandlersOn(process: SimulatedProcess, startLog: StartLog): void {
  const { random, wakeful } = process
  wakeful.handle('work', async (fire) => {
    startLog.note(process, fire)
    await process.sleep(random.between(1, 400))
    if (random.chance(0.05)) throw new Error('no luck')
  })
  // Many at once, and so quick that the engine claims more than it has slots for.
  wakeful.handle('quick', async (fire) => {
    startLog.note(process, fire)
    await process.sleep(random.between(0, 4))
  })
  // The follow-up alarm commits with the settle, or not at all.
  const chain = async (fire: Fire) => {
    startLog.note(process, fire)
    await process.sleep(random.between(1, 100))
    const label = `${EFFECT}${fire.occurrence.id}`
    await wakeful.set({ delay: '20s' }, { target: 'work', label, tx: fire.tx, ...SOON })
    await process.sleep(random.between(1, 100))
    if (random.chance(0.1)) throw new Error('no luck')
  }
  wakeful.handle('chain', chain, { transactional: true })
}

/** The i-th alarm. One in four recurs together with others; of the rest, some end and some recur alone. */
function alarmOf(random: Random, i: number): [When, NonNullable<SetCallOptions['target']>] {
  const together: When = { cron: '*/10 * * * * *', misfire: 'all' }
  if (i % 20 === 3) return [together, 'chain']
  if (i % 5 === 0) return [together, 'quick']
  const target = i % 7 === 0 ? 'chain' : i % 11 === 0 ? { event: true as const } : 'work'
  if (i % 10 === 1) return [{ delay: `${random.between(1, 200)}s` }, target]
  return [{ every: `${random.between(5, 60)}s`, misfire: 'all' }, target]
}

/** Users that set and cancel alarms, through any process that is up. */
export class Users {
  /** The alarms whose set was answered. */
  readonly ids: string[] = []
  /** The alarms whose cancel was sent. */
  readonly cancelling = new Set<string>()
  readonly cancelled: Cancelled[] = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  async setOne(i: number): Promise<void> {
    const { random } = this.#world
    const [when, target] = alarmOf(random, i)
    await this.#by('set', async ({ wakeful }) => {
      const { id } = await wakeful.set(when, { target, ...SOON })
      this.ids.push(id)
    })
  }

  /** Sets an alarm and cancels it at about its due instant. */
  async setDoomed({ starts }: StartLog): Promise<void> {
    const { random } = this.#world
    const delayMs = random.between(1_000, 20_000)
    await this.#by('set', async ({ wakeful }) => {
      const target = random.chance(0.3) ? 'chain' : 'work'
      const { id } = await wakeful.set({ delay: `PT${delayMs / 1000}S` }, { target, ...SOON })
      this.ids.push(id)
      this.#world.in(delayMs + random.between(-300, 300), () => void this.#cancel(id, starts))
    })
  }

  async #cancel(id: string, starts: readonly unknown[]): Promise<void> {
    this.cancelling.add(id)
    await this.#by('cancel', async ({ wakeful }) => {
      const { outcome } = await wakeful.cancel(id)
      this.cancelled.push({ id, outcome, starts: starts.length })
    })
  }

  async #by(what: string, call: (process: SimulatedProcess) => Promise<void>): Promise<void> {
    const { random, processes } = this.#world
    const up = processes.filter((process) => process.isUp)
    const process = up[random.between(0, up.length - 1)]
    if (process === undefined) return
    try {
      await call(process)
      this.#world.note(process.name, `${what} answered`)
    } catch (thrown) {
      this.#world.note(process.name, `${what} failed: ${errorText(thrown)}`)
    }
  }
}
