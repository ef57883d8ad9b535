import type { Serial } from '../../../src/alarm/index.ts'

/** One change of one row, which can be taken back and made again. */
export interface Step {
  readonly table: string
  /** Null where several transactions may change it at once: a sum. */
  readonly key: string | Serial | null
  undo(): void
  redo(): void
}

/** What the statement under way has changed, so that it leaves nothing behind when it fails. */
export class Journal {
  #steps: Step[] = []

  get length(): number {
    return this.#steps.length
  }

  note(step: Step): void {
    this.#steps.push(step)
  }

  /** What was changed since the journal had this length. */
  since(length: number): readonly Step[] {
    return this.#steps.slice(length)
  }

  /** Takes back all that was changed since the journal had this length, the last first. */
  undoTo(length: number): void {
    while (this.#steps.length > length) this.#steps.pop()!.undo()
  }

  /** What was changed stays. */
  forget(): void {
    this.#steps = []
  }
}
