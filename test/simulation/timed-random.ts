import { Random } from '../random.ts'

/** Chance does not change within this long. */
const MOMENT_MS = 3

/**
 * A stream of chance that goes by the time: what is drawn at a moment depends on its name, the seed and that moment, not
 * on what was drawn before. So a run from which something is left out goes on much as it did, and can be shrunk.
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

/** A number for a name and a seed. */
export function seedOf(seed: number, name: string): number {
  let hash = seed
  for (let i = 0; i < name.length; i++) hash = mixed(hash, name.charCodeAt(i))
  return hash
}

function mixed(a: number, b: number): number {
  const folded = Math.imul(a ^ b ^ Math.floor(b / 2 ** 32), 0x9e3779b1)
  return folded ^ (folded >>> 15)
}
