import { WakefulError } from '../../error.ts'
import { TryLater } from '../http/problem.ts'

/** What bounds the work that is done in turns. */
export interface TurnBounds {
  readonly atOnce: number
  /** For each of those who wait. */
  readonly waitingMax: number
  /** For all of them together, where what waits holds something. */
  readonly allMax?: number
}

const RETRY_MS = 1_000

/**
 * Does so much at once, and lets the rest wait. Those who wait take turns, each with one piece of work: whoever asks for
 * a thousand waits for them, and others do not.
 */
export class FairTurns {
  readonly #bounds: TurnBounds
  /** By who waits; the next is first. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #running = 0
  #all = 0

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds
  }

  /** Does the work when its turn has come; not at all where its caller has gone by then. */
  async take<T>(who: string, signal: AbortSignal | undefined, work: () => T | Promise<T>): Promise<T> {
    if (this.#running >= this.#bounds.atOnce) await this.#turn(who, signal)
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#next()
    }
  }

  #turn(who: string, signal: AbortSignal | undefined): Promise<void> {
    const ofThem = this.#waiting.get(who) ?? new Set()
    const { waitingMax, allMax = Number.POSITIVE_INFINITY } = this.#bounds
    if (this.#all >= allMax)
      throw new TryLater('rate_limited', `${this.#all} calls wait for their turn already`, RETRY_MS)
    if (ofThem.size >= waitingMax)
      throw new TryLater(
        'rate_limited',
        `${ofThem.size} calls of yours wait for their turn already`,
        RETRY_MS,
      )
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const begin = () => {
      signal?.removeEventListener('abort', leave)
      this.#running += 1
      resolve()
    }
    const leave = () => {
      this.#drop(who, ofThem, begin)
      reject(gone())
    }
    if (signal?.aborted === true) throw gone()
    signal?.addEventListener('abort', leave, { once: true })
    this.#waiting.set(who, ofThem.add(begin))
    this.#all += 1
    return promise
  }

  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [who, ofThem] = first
    const [begin] = ofThem
    this.#drop(who, ofThem, begin!)
    // What else they wait for comes after the others' next.
    if (this.#waiting.delete(who)) this.#waiting.set(who, ofThem)
    begin!()
  }

  #drop(who: string, ofThem: Set<() => void>, begin: () => void): void {
    ofThem.delete(begin)
    this.#all -= 1
    if (ofThem.size === 0) this.#waiting.delete(who)
  }
}

function gone(): WakefulError {
  return new WakefulError('invalid_request', 'the caller has gone before its turn came')
}
