import { Random } from '../random.ts'

/** The stream is constant within this interval. */
const MOMENT_MS = 3

/**
 * A random stream indexed by time. A draw depends on its name, the seed and the current time, not on earlier draws. So
 * a run continues almost unchanged when parts of its plan are left out, and can be shrunk.
 */
export class TimedRandom extends Random {
  readonly #seed: number
  readonly #now: () => number
  #moment = -1
  #current: Random

  constructor(seed: number, now: () => number) {
    super(seed)
    this.#seed = seed
    this.#now = now
    this.#current = new Random(seed)
  }

  override next(): number {
    const moment = Math.floor(this.#now() / MOMENT_MS)
    if (moment !== this.#moment) {
      this.#moment = moment
      this.#current = new Random(mixed(this.#seed, moment))
    }
    return this.#current.next()
  }
}

/** Derives a seed from a name and a seed. */
export function seedOf(seed: number, name: string): number {
  let hash = seed
  for (let i = 0; i < name.length; i++) hash = mixed(hash, name.charCodeAt(i))
  return hash
}

function mixed(a: number, b: number): number {
  const folded = Math.imul(a ^ b ^ Math.floor(b / 2 ** 32), 0x9e3779b1)
  return folded ^ (folded >>> 15)
}
