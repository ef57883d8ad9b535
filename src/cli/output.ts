import { type Column, table } from './table.ts'
import { paint, type Terminal } from './terminal.ts'

/** How a command's answer is printed: for people, or as JSON. */
export class Output {
  readonly json: boolean
  readonly terminal: Terminal

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal
    this.json = json
  }

  /** Prints the answer in the form that was asked for: JSON text, or lines. */
  answer(forms: { json: () => string; human: () => readonly string[] }): void {
    for (const line of this.json ? [forms.json()] : forms.human()) this.line(line)
  }

  /** Prints one line of the answer. */
  line(text: string): void {
    this.terminal.stdout.write(`${text}\n`)
  }

  /** Says something beside the answer, where pipes do not see it. */
  aside(text: string): void {
    this.terminal.stderr.write(`${text}\n`)
  }

  /** Rows as lines that fit the terminal; what is written elsewhere is never cut. */
  rows<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
    const { titles, lines } = table(columns, rows, this.width)
    return [...titles.map((title) => paint(this.terminal, 'dim', title)), ...lines]
  }

  /** The columns of the terminal; null where the output is none. */
  get width(): number | null {
    return this.terminal.stdout.isTTY === true ? (this.terminal.stdout.columns ?? 80) : null
  }
}
