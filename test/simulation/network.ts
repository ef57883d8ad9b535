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

/** Decides the fate of a statement. */
export type Fates = (process: string, statement: string) => Fate

/** Round trips of a fraction of a millisecond, now and then some more, and nothing is lost. */
export function calm(random: Random): Fates {
  const ms = () => 0.1 + random.next() * (random.chance(0.02) ? 20 : 0.5)
  return () => ({ thereMs: ms(), backMs: ms() })
}

/** What lies between the processes and the database. */
export class Network {
  readonly #timeline: Timeline
  readonly #trace: Trace
  readonly #fates: Fates

  constructor(timeline: Timeline, trace: Trace, fates: Fates) {
    this.#timeline = timeline
    this.#trace = trace
    this.#fates = fates
  }

  /** Carries a statement of a process to the database, and its answer back. */
  statement<T>(process: Party, name: string, statement: string, run: () => T): Promise<T> {
    const { thereMs, backMs, lost } = this.#fates(name, statement)
    return new Promise((resolve, reject) => {
      const back = (answer: () => void) => void this.#timeline.in(backMs, process, answer)
      const lose = (where: string) =>
        back(() => {
          this.#trace.note(this.#timeline.now, name, `${statement} lost ${where}`)
          reject(new LinkLost(`the link broke (${where})`))
        })
      // What was sent arrives, also when its sender is dead by then.
      this.#timeline.in(thereMs, null, () => {
        if (lost === 'there') return lose('before it ran')
        this.#trace.note(this.#timeline.now, name, statement)
        const answer = outcomeOf(run)
        if (lost === 'back') return lose('after it ran')
        return back(() => ('value' in answer ? resolve(answer.value) : reject(answer.thrown)))
      })
    })
  }
}

function outcomeOf<T>(run: () => T): { readonly value: T } | { readonly thrown: unknown } {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
