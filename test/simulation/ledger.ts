import type { Entry } from '../judge/entries.ts'
import type { SimulatedProcess } from './process.ts'

/** An entry without its run. */
type Unsigned<E = Entry> = E extends { readonly run: number } ? Omit<E, 'run'> : never

/** The entries for the judge, in the order in which they happened. */
export class Ledger {
  readonly entries: Entry[] = []
  readonly #runs = new Map<string, number>()

  /** Records what a process observed. A dead process records nothing. */
  write(process: SimulatedProcess, entry: Unsigned): void {
    if (!process.isDead) this.add({ ...entry, run: this.runOf(process) } as Entry)
  }

  /** Records what the world knows. */
  add(entry: Entry): void {
    this.entries.push(entry)
  }

  /** The run number of a process. */
  runOf({ name }: Pick<SimulatedProcess, 'name'>): number {
    const known = this.#runs.get(name)
    if (known !== undefined) return known
    this.#runs.set(name, this.#runs.size + 1)
    return this.#runs.size
  }
}
