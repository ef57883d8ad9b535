import type { Serial } from '../../../src/alarm/index.ts'

/** A change of one row that can be undone and redone. */
export interface Step {
  readonly table: string
  /** Null for sums, which several transactions may change at once. */
  readonly key: string | Serial | null
  undo(): void
  redo(): void
}

/** The changes of the current statement, so that they can be undone if it fails. */
export class Journal {
  #steps: Step[] = []

  get length(): number {
    return this.#steps.length
  }

  note(step: Step): void {
    this.#steps.push(step)
  }

  /** The changes since the journal had this length. */
  since(length: number): readonly Step[] {
    return this.#steps.slice(length)
  }

  /** Undoes all changes since the journal had this length, the last first. */
  undoTo(length: number): void {
    while (this.#steps.length > length) this.#steps.pop()!.undo()
  }

  /** Keeps the changes. */
  forget(): void {
    this.#steps = []
  }
}
