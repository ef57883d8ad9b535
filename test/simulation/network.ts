import type { Random } from '../chaos/random.ts'
import { type Faults, isWeighty, type Landing } from './faults.ts'
import { LinkLost } from './store/wire.ts'
import type { Party, Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'
import { ANSWER_MS_MAX, CALM, type Fate, fateOf, type Weather } from './weather.ts'

/** Where a statement is: on its way, carried out and not yet answered, or answered. */
export type Point = 'sent' | 'ran' | 'answered'

/** Told of every statement at each of its points, before anybody else acts on it. */
type Watcher = (process: string, statement: string, point: Point) => void

/** What a network is made of. */
export interface NetworkParts {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly faults: Faults
  readonly random: Random
}

/** A process that is kept from the database: until when, in true time, and who is told that a statement met it. */
interface Cut {
  readonly until: number
  readonly land: Landing
}

/** What lies between the processes and the database. */
export class Network {
  weather: Weather = CALM
  readonly #timeline: Timeline
  readonly #trace: Trace
  readonly #faults: Faults
  readonly #random: Random
  readonly #watchers = new Set<Watcher>()
  readonly #cuts = new Map<string, Cut>()
  /** How many statements that write or take each process waits for. */
  readonly #awaited = new Map<string, number>()

  constructor({ timeline, trace, faults, random }: NetworkParts) {
    this.#timeline = timeline
    this.#trace = trace
    this.#faults = faults
    this.#random = random
  }

  /** Keeps a process from the database for a while: nothing it sends arrives, and nobody tells it. */
  cut(name: string, ms: number, land: Landing): void {
    this.#cuts.set(name, { until: this.#timeline.now + ms, land })
  }

  /** Whether a process waits for a statement that writes or takes. */
  isAwaited(name: string): boolean {
    return (this.#awaited.get(name) ?? 0) > 0
  }

  /** Lets somebody act at the very moment a statement is sent, carried out or answered. Answers how to stop. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Carries a statement of a process to the database, and its answer back. */
  statement<T>(process: Party, name: string, statement: string, run: () => T): Promise<T> {
    // What the dead still do in the turn of their death has no effect.
    const event = process.isDead ? 0 : process.begins()
    if (process.isDead) return new Promise(() => {})
    const { thereMs, backMs, fault } = this.#fateOf(name, statement)
    this.#await(name, statement, 1)
    const answered = new Promise<T>((resolve, reject) => {
      const back = (answer: () => void) =>
        void this.#timeline.in(backMs, process, () => {
          this.#await(name, statement, -1)
          this.#reach(name, statement, 'answered')
          // Whoever is killed at this moment has not read the answer.
          if (!process.isDead) answer()
        })
      const lose = (where: string) => {
        this.#trace.note(this.#timeline.now, name, `${statement} lost ${where}`)
        back(() => reject(new LinkLost(`the link broke ${where}`)))
      }
      // What was sent arrives, also when its sender is dead by then.
      this.#timeline.in(thereMs, null, () => {
        if (fault === 'lostThere') return lose('before it ran')
        this.#trace.note(this.#timeline.now, name, statement)
        const answer = outcomeOf(run)
        this.#reach(name, statement, 'ran')
        if (fault === 'lostBack') return lose('after it ran')
        return back(() => ('value' in answer ? resolve(answer.value) : reject(answer.thrown)))
      })
    })
    this.#reach(name, statement, 'sent')
    process.ended(event)
    return answered
  }

  #reach(name: string, statement: string, point: Point): void {
    for (const watcher of [...this.#watchers]) watcher(name, statement, point)
  }

  #await(name: string, statement: string, more: number): void {
    if (isWeighty(statement)) this.#awaited.set(name, (this.#awaited.get(name) ?? 0) + more)
  }

  #fateOf(name: string, statement: string): Fate {
    const fate = fateOf(this.#random, this.weather)
    const cut = this.#cuts.get(name)
    if (cut !== undefined && cut.until > this.#timeline.now) {
      if (isWeighty(statement)) cut.land()
      return { ...fate, backMs: ANSWER_MS_MAX, fault: 'lostThere' }
    }
    if (fate.isSlow) this.#faults.note('slow', isWeighty(statement), name)
    if (fate.fault !== null) this.#faults.note(fate.fault, isWeighty(statement), name)
    return fate
  }
}

function outcomeOf<T>(run: () => T): { readonly value: T } | { readonly thrown: unknown } {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
