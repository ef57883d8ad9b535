import { DEFAULT_LIMITS } from '../../src/alarm/index.ts'
import { assemble, type Wakeful } from '../../src/library/index.ts'
import { DEFAULT_POOL, eventTarget, HandlerTarget, Targets } from '../../src/targets/index.ts'
import { JumpTolerantClock } from '../../src/time/index.ts'
import type { Random } from '../random.ts'
import type { Connected } from './backend.ts'
import { ProcessClock, type Skew } from './process-clock.ts'
import type { Participant, Timeline } from './timeline.ts'

/** What a process is made of. */
export interface ProcessParts {
  readonly name: string
  readonly machine: Machine
  readonly random: Random
  readonly timeline: Timeline
  /** What the wall clock of a machine that is never wrong would read. */
  readonly wallNow: number
  /** How often it sees to what is old. */
  readonly upkeepMs: number
  readonly onError: (thrown: unknown) => void
}

/** Where a process runs, and what it is to do there. */
export interface Machine {
  readonly name: string
  readonly skew: Skew
  /** Registers the handlers of a process that boots. */
  readonly registerHandlers: (process: SimulatedProcess) => void
  /** Deliveries it may have under way at once (100). */
  readonly concurrency?: number
  /** Occurrences this late are misfires (a minute). */
  readonly graceMs?: number
  /** How long after its death the next process is started; without, none is. */
  readonly restartMs?: number
}

/** Told of each event of a process: a timer, a turn, an answer, a statement that it sends. */
type EventListener = (event: number, when: 'before' | 'after') => void

const CONCURRENCY = 100
const MINUTE_MS = 60_000
/** Occurrences this late are misfires. */
export const GRACE_MS = MINUTE_MS
/** Longer than any run: what is judged must be there. */
const RETENTION_MS = 1_000 * 86_400_000

/** One process of the world: the production engine and library, on a store and clocks that are simulated. */
export class SimulatedProcess implements Participant {
  readonly name: string
  readonly machine: Machine
  readonly random: Random
  /** The host's own clock. */
  readonly clock: ProcessClock
  readonly #upkeepMs: number
  readonly #onError: (thrown: unknown) => void
  readonly #listeners = new Set<EventListener>()
  #wakeful: Wakeful | null = null
  #events = 0
  readonly #death = Promise.withResolvers<void>()
  #isDead = false
  pausedUntil = 0

  constructor({ name, machine, random, timeline, wallNow, upkeepMs, onError }: ProcessParts) {
    this.name = name
    this.machine = machine
    this.random = random
    this.clock = new ProcessClock(timeline, this, random, wallNow, machine.skew)
    this.#upkeepMs = upkeepMs
    this.#onError = onError
  }

  /** What its users hold in their hands, once it has booted. */
  get wakeful(): Wakeful {
    if (this.#wakeful === null) throw new Error(`${this.name} has not booted yet`)
    return this.#wakeful
  }

  get isUp(): boolean {
    return this.#wakeful !== null && !this.#isDead
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Resolves when it dies. */
  get died(): Promise<void> {
    return this.#death.promise
  }

  /** Ends it: from now on nothing of it happens. */
  die(): void {
    this.#isDead = true
    this.#death.resolve()
  }

  /** How many events of its own it has had: before each of them it waited for something. */
  get events(): number {
    return this.#events
  }

  begins(): number {
    this.#events += 1
    const event = this.#events
    this.#tell(event, 'before')
    return event
  }

  ended(event: number): void {
    this.#tell(event, 'after')
  }

  /** Lets somebody act right before and right after its events. Answers how to stop. */
  listen(listen: EventListener): () => void {
    this.#listeners.add(listen)
    return () => this.#listeners.delete(listen)
  }

  /** Puts everything together as a host does, and starts to run its clocks. */
  async boot({ store, clock: storeClock }: Connected): Promise<void> {
    const clock = new JumpTolerantClock(storeClock, (doubt) => this.#onError(new Error(doubt)))
    clock.checkAgainst(await store.newestInstant())
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
      engine: {
        concurrency: this.machine.concurrency ?? CONCURRENCY,
        batchMax: 1_000,
        graceMs: this.machine.graceMs ?? GRACE_MS,
        drainMs: MINUTE_MS / 2,
      },
      scope: { tenant: 'default', owner: '' },
      limits: DEFAULT_LIMITS,
      defaults: {},
      retentionMs: RETENTION_MS,
      upkeepMs: this.#upkeepMs,
      timezone: 'UTC',
      createdVia: 'simulation',
      onError: this.#onError,
    })
    this.#wakeful = wakeful
    this.machine.registerHandlers(this)
    await wakeful.start()
  }

  /** Waits by the host's clock: never comes back in a process that is killed meanwhile. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(ms, resolve))
  }

  #tell(event: number, when: 'before' | 'after'): void {
    if (this.#isDead) return
    for (const listen of [...this.#listeners]) listen(event, when)
  }
}
