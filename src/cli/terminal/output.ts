import { type Column, fits, table, wrap } from '../text/index.ts'
import { paint, type Terminal, widthOf } from './terminal.ts'

/** Prints the result of a command, as text or as JSON. */
export class Output {
  readonly json: boolean
  readonly terminal: Terminal

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal
    this.json = json
  }

  /** Prints the result as JSON or as lines. */
  print(forms: { json: () => string; human: () => readonly string[] }): void {
    for (const line of this.json ? [forms.json()] : forms.human()) this.line(line)
  }

  /** Prints one line of the result. */
  line(text: string): void {
    this.terminal.stdout.write(`${text}\n`)
  }

  /** Prints a note to stderr, so that pipes do not get it. */
  note(text: string): void {
    this.terminal.stderr.write(`${wrap(text, widthOf(this.terminal.stderr), '')}\n`)
  }

  /**
   * Rows as lines. On a terminal, the first set of columns that fits on one line is used; other output is never cut.
   */
  rows<Row>(sets: readonly (readonly Column<Row>[])[], rows: readonly Row[]): string[] {
    const { width } = this
    const fit = width === null ? sets[0] : sets.find((columns) => fits(columns, rows, width))
    const { titles, lines } = table(fit ?? sets.at(-1) ?? [], rows, width)
    return [...titles.map((title) => paint(this.terminal, 'dim', title)), ...lines]
  }

  /** The width of the terminal; null if the output is not a terminal. */
  get width(): number | null {
    return widthOf(this.terminal.stdout)
  }
}
