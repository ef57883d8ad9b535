import type { Entry } from '../judge/entries.ts'
import type { SimulatedProcess } from './process.ts'

/** An entry before its run is known. */
type Unsigned<E = Entry> = E extends { readonly run: number } ? Omit<E, 'run'> : never

/** What happened in a world, for the judge, in the order in which it did. */
export class Ledger {
  readonly entries: Entry[] = []
  readonly #runs = new Map<string, number>()

  /** Writes down what a process saw or was told: nothing, once it is dead. */
  write(process: SimulatedProcess, entry: Unsigned): void {
    if (!process.isDead) this.add({ ...entry, run: this.runOf(process) } as Entry)
  }

  /** Writes down what the world knows. */
  add(entry: Entry): void {
    this.entries.push(entry)
  }

  /** The number by which the judge knows a process. */
  runOf({ name }: Pick<SimulatedProcess, 'name'>): number {
    const known = this.#runs.get(name)
    if (known !== undefined) return known
    this.#runs.set(name, this.#runs.size + 1)
    return this.#runs.size
  }
}
