import { DEFAULT_LIMITS } from '../../src/alarm/index.ts'
import { assemble, type Wakeful } from '../../src/library/index.ts'
import { DEFAULT_POOL, eventTarget, HandlerTarget, Targets } from '../../src/targets/index.ts'
import { ScepticalClock } from '../../src/time/index.ts'
import type { Random } from '../chaos/random.ts'
import type { ProcessClock } from './process-clock.ts'
import type { SimulatedStore } from './store/store.ts'
import type { Party } from './timeline.ts'

/** What a process is made of. */
export interface ProcessParts {
  readonly name: string
  readonly random: Random
  readonly onTrouble: (thrown: unknown) => void
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** One process of the world: the production engine and library, on a store and clocks that are simulated. */
export class SimulatedProcess implements Party {
  readonly name: string
  readonly random: Random
  readonly #onTrouble: (thrown: unknown) => void
  #wakeful: Wakeful | null = null
  #clock: ProcessClock | null = null
  isDead = false
  pausedUntil = 0

  constructor({ name, random, onTrouble }: ProcessParts) {
    this.name = name
    this.random = random
    this.#onTrouble = onTrouble
  }

  /** What its users hold in their hands, once it has booted. */
  get wakeful(): Wakeful {
    if (this.#wakeful === null) throw new Error(`${this.name} has not booted yet`)
    return this.#wakeful
  }

  get isUp(): boolean {
    return this.#wakeful !== null && !this.isDead
  }

  /** The host's own clock. */
  get clock(): ProcessClock {
    return this.#clock!
  }

  /** Opens the store, puts everything together as a host does, and starts to run its clocks. */
  async boot(
    store: SimulatedStore,
    host: ProcessClock,
    equip: (process: SimulatedProcess) => void,
  ): Promise<void> {
    this.#clock = host
    await store.open()
    const clock = new ScepticalClock(store.clock, (doubt) => this.#onTrouble(new Error(doubt)))
    clock.compare(await store.lastSeen())
    const handlers = new HandlerTarget(DEFAULT_POOL)
    const wakeful = assemble({
      store,
      clock,
      handlers,
      targets: new Targets([handlers, eventTarget]),
      serveBuiltIns: true,
      process: this.name,
      fill: (bytes) => {
        for (let i = 0; i < bytes.length; i++) bytes[i] = this.random.between(0, 255)
      },
      random: () => this.random.next(),
      zoneData: 'simulated',
      engine: { concurrency: 100, batchMax: 1_000, graceMs: MINUTE_MS, drainMs: MINUTE_MS / 2 },
      scope: { tenant: 'default', owner: '' },
      limits: DEFAULT_LIMITS,
      defaults: {},
      retentionMs: 30 * DAY_MS,
      timezone: 'UTC',
      createdVia: 'simulation',
      onTrouble: this.#onTrouble,
    })
    this.#wakeful = wakeful
    equip(this)
    await wakeful.start()
  }

  /** Waits by the host's clock: never comes back in a process that is killed meanwhile. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(ms, resolve))
  }
}
