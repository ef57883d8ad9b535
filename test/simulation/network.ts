import type { Random } from '../chaos/random.ts'
import { LinkLost } from './store/wire.ts'
import type { Party, Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'

/** What becomes of a statement: when it arrives, when its answer does, and which of the two gets lost. */
export interface Fate {
  readonly thereMs: number
  readonly backMs: number
  /** It never arrives (`there`), or it runs and its answer is lost (`back`): half done. */
  readonly lost?: 'there' | 'back'
}

/** Where a statement is: on its way, carried out and not yet answered, or answered. */
export type Point = 'sent' | 'ran' | 'answered'

/** Told of every statement at each of its points, before anybody else acts on it. */
type Watcher = (process: string, statement: string, point: Point) => void

/** How likely it is that something befalls a statement. */
export interface Weather {
  readonly lostThere: number
  readonly lostBack: number
  readonly slow: number
}

/** A good network: nothing is lost, and little is slow. */
export const CALM: Weather = { lostThere: 0, lostBack: 0, slow: 0.01 }

/** How long a process waits for an answer before it takes the link for broken. */
const ANSWER_MS_MAX = 4_000
const SLOW_MS_MAX = 2_000

/** What lies between the processes and the database. */
export class Network {
  weather: Weather = CALM
  /** How often each fault has befallen a statement. */
  readonly faults = new Map<string, number>()
  readonly #timeline: Timeline
  readonly #trace: Trace
  readonly #random: Random
  readonly #watchers = new Set<Watcher>()
  /** Until when each process does not reach the database, in true time. */
  readonly #cut = new Map<string, number>()

  constructor(timeline: Timeline, trace: Trace, random: Random) {
    this.#timeline = timeline
    this.#trace = trace
    this.#random = random
  }

  /** Keeps a process from the database for a while: nothing it sends arrives, and nobody tells it. */
  cut(name: string, ms: number): void {
    this.#cut.set(name, this.#timeline.now + ms)
  }

  /** Lets somebody act at the very moment a statement is sent, carried out or answered. Answers how to stop. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Carries a statement of a process to the database, and its answer back. */
  statement<T>(process: Party, name: string, statement: string, run: () => T): Promise<T> {
    if (process.isDead) return new Promise(() => {})
    const { thereMs, backMs, lost } = this.#fateOf(name)
    const reach = (point: Point) => {
      for (const watcher of [...this.#watchers]) watcher(name, statement, point)
    }
    return new Promise((resolve, reject) => {
      const back = (answer: () => void) =>
        void this.#timeline.in(backMs, process, () => {
          reach('answered')
          // Whoever is killed at this moment has not read the answer.
          if (!process.isDead) answer()
        })
      const lose = (where: string) => {
        this.count(`${statement} lost ${where}`)
        this.#trace.note(this.#timeline.now, name, `${statement} lost ${where}`)
        back(() => reject(new LinkLost(`the link broke ${where}`)))
      }
      reach('sent')
      // What was sent arrives, also when its sender is dead by then.
      this.#timeline.in(thereMs, null, () => {
        if (lost === 'there') return lose('before it ran')
        this.#trace.note(this.#timeline.now, name, statement)
        const answer = outcomeOf(run)
        reach('ran')
        if (lost === 'back') return lose('after it ran')
        return back(() => ('value' in answer ? resolve(answer.value) : reject(answer.thrown)))
      })
    })
  }

  #fateOf(name: string): Fate {
    const { weather } = this
    const thereMs = this.#travelMs()
    const backMs = this.#travelMs()
    const lostMs = this.#random.next() * ANSWER_MS_MAX
    const chance = this.#random.next()
    if ((this.#cut.get(name) ?? 0) > this.#timeline.now)
      return { thereMs, backMs: ANSWER_MS_MAX, lost: 'there' }
    if (chance < weather.lostThere) return { thereMs, backMs: lostMs, lost: 'there' }
    if (chance < weather.lostThere + weather.lostBack) return { thereMs, backMs: lostMs, lost: 'back' }
    return { thereMs, backMs }
  }

  /** A fraction of a millisecond, now and then much more. */
  #travelMs(): number {
    const isSlow = this.#random.chance(this.weather.slow)
    if (isSlow) this.count('slow')
    return 0.1 + this.#random.next() * (isSlow ? SLOW_MS_MAX : 0.5)
  }

  /** Notes that a fault has befallen somebody. */
  count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1)
  }
}

function outcomeOf<T>(run: () => T): { readonly value: T } | { readonly thrown: unknown } {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
