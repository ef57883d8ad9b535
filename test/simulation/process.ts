import { DEFAULT_LIMITS, DEFAULT_POOL } from '../../src/alarm/index.ts'
import { assemble, type Wakeful } from '../../src/library/index.ts'
import { eventTarget, HandlerTarget } from '../../src/targets/index.ts'
import { JumpTolerantClock } from '../../src/time/index.ts'
import type { Random } from '../random.ts'
import type { Connected } from './backend.ts'
import { ProcessClock, type Skew } from './process-clock.ts'
import type { Participant, Timeline } from './timeline.ts'

/** What a process needs. */
export interface ProcessParts {
  readonly name: string
  readonly machine: Machine
  readonly random: Random
  readonly timeline: Timeline
  /** The reading of a correct wall clock. */
  readonly wallNow: number
  /** The interval of housekeeping. */
  readonly upkeepMs: number
  readonly onError: (thrown: unknown) => void
}

/** A machine: where a process runs, and its settings. */
export interface Machine {
  readonly name: string
  readonly skew: Skew
  /** Registers the handlers of a booting process. */
  readonly registerHandlers: (process: SimulatedProcess) => void
  /** What a booting process does before it starts its engine: it declares its alarms. */
  readonly declare?: (process: SimulatedProcess) => Promise<unknown>
  /** How many deliveries it may run at once (100). */
  readonly concurrency?: number
  /** Occurrences later than this are misfires (a minute). */
  readonly graceMs?: number
  /** How long after its death the next process is started. If absent, none is. */
  readonly restartMs?: number
}

/** Called for each event of a process: a timer, a turn, a response, or a statement that it sends. */
type EventListener = (event: number, when: 'before' | 'after') => void

const CONCURRENCY = 100
const DECLARE_MS_MAX = 1_500
const MINUTE_MS = 60_000
/** Occurrences later than this are misfires. */
export const GRACE_MS = MINUTE_MS
/** Longer than any run: the judge needs all records. */
const RETENTION_MS = 1_000 * 86_400_000

/** One process of the world: the production engine and library on a simulated store and simulated clocks. */
export class SimulatedProcess implements Participant {
  readonly name: string
  readonly machine: Machine
  readonly random: Random
  /** The host's clock. */
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

  /** The library instance of the booted process. */
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

  /** Resolves when the process dies. */
  get died(): Promise<void> {
    return this.#death.promise
  }

  /** Kills the process. Nothing it does has an effect from now on. */
  die(): void {
    this.#isDead = true
    this.#death.resolve()
  }

  /** The number of its events so far. It waited for something before each of them. */
  get events(): number {
    return this.#events
  }

  begins(): number {
    this.#events += 1
    const event = this.#events
    this.#emit(event, 'before')
    return event
  }

  ended(event: number): void {
    this.#emit(event, 'after')
  }

  /** Calls a listener right before and after each event. Returns how to stop. */
  listen(listen: EventListener): () => void {
    this.#listeners.add(listen)
    return () => this.#listeners.delete(listen)
  }

  /** Assembles and starts the process as a host does. */
  async boot({ store, clock: storeClock }: Connected): Promise<void> {
    const clock = new JumpTolerantClock(storeClock, (doubt) => this.#onError(new Error(doubt)))
    clock.checkAgainst(await store.newestInstant())
    const handlers = new HandlerTarget(DEFAULT_POOL)
    const wakeful = assemble({
      store,
      clock,
      handlers,
      targets: [handlers, eventTarget],
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
        drainMs: MINUTE_MS / 2,
      },
      graceMs: this.machine.graceMs ?? GRACE_MS,
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
    const { declare } = this.machine
    // A call through a broken connection must not delay the start for long.
    if (declare !== undefined) await Promise.race([declare(this), this.sleep(DECLARE_MS_MAX)])
    await wakeful.start()
  }

  /** Waits by the host's clock. Never resolves if the process is killed meanwhile. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(ms, resolve))
  }

  #emit(event: number, when: 'before' | 'after'): void {
    if (this.#isDead) return
    for (const listen of [...this.#listeners]) listen(event, when)
  }
}
