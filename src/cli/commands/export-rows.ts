import { counted } from '../terminal/progress.ts'

const KINDS = ['alarm', 'event', 'calendar', 'document', 'wake'] as const

/** What the lines of an export stand for; its first and its last line stand for nothing. */
export class Rows {
  lines = 0
  readonly #counts = new Map<string, number>()

  /** The same lines, counted by the name each begins with. */
  async *counted(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) {
      this.lines += 1
      const kind = /^\s*\{\s*"(\w+)"/.exec(line)?.[1] ?? ''
      this.#counts.set(kind, this.#of(kind) + 1)
      yield line
    }
  }

  /** Such as `2 alarms, 5 events`; of the rest only what there is. */
  words(): string {
    const [alarms, ...others] = KINDS
    const there = [alarms, ...others.filter((kind) => this.#of(kind) > 0)]
    return there.map((kind) => counted(this.#of(kind), kind)).join(', ')
  }

  /** What became of rows that the store could not read, where there are any. */
  damagedWords(what: string): string {
    const damaged = this.#of('damaged')
    return damaged === 0 ? '' : `; ${counted(damaged, 'damaged row')} ${what}`
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(KINDS.map((kind) => [`${kind}s`, this.#of(kind)]))
  }

  #of(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }
}
