import { type Column, fits, table, wrap } from '../text/index.ts'
import { paint, type Terminal, widthOf } from './terminal.ts'

/** How a command's answer is printed: for people, or as JSON. */
export class Output {
  readonly json: boolean
  readonly terminal: Terminal

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal
    this.json = json
  }

  /** Prints the answer in the form that was asked for: JSON text, or lines. */
  print(forms: { json: () => string; human: () => readonly string[] }): void {
    for (const line of this.json ? [forms.json()] : forms.human()) this.line(line)
  }

  /** Prints one line of the answer. */
  line(text: string): void {
    this.terminal.stdout.write(`${text}\n`)
  }

  /** Says something beside the answer, where pipes do not see it. */
  note(text: string): void {
    this.terminal.stderr.write(`${wrap(text, widthOf(this.terminal.stderr), '')}\n`)
  }

  /**
   * Rows as lines that fit the terminal, in the first of several sets of columns that has room on one line; what is
   * written elsewhere is never cut.
   */
  rows<Row>(sets: readonly (readonly Column<Row>[])[], rows: readonly Row[]): string[] {
    const { width } = this
    const fit = width === null ? sets[0] : sets.find((columns) => fits(columns, rows, width))
    const { titles, lines } = table(fit ?? sets.at(-1) ?? [], rows, width)
    return [...titles.map((title) => paint(this.terminal, 'dim', title)), ...lines]
  }

  /** The columns of the terminal; null where the output is none. */
  get width(): number | null {
    return widthOf(this.terminal.stdout)
  }
}
