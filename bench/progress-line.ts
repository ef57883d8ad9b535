/** Shows the progress of a long run: on a terminal in one line that is redrawn, elsewhere in one line per phase. */
export class ProgressLine {
  readonly #isTerminal = process.stderr.isTTY === true
  #last = ''

  /** Shows the phase. The detail changes often, so only a terminal shows it. */
  show(phase: string, detail = ''): void {
    if (this.#isTerminal) process.stderr.write(`\r\x1b[K${phase}${detail === '' ? '' : `: ${detail}`}`)
    else if (phase !== this.#last) process.stderr.write(`${phase}\n`)
    this.#last = phase
  }

  /** Removes the line from the terminal. */
  clear(): void {
    if (this.#isTerminal) process.stderr.write('\r\x1b[K')
  }
}
