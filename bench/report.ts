/** Says how far a long run has come: on a terminal in one line that is redrawn, elsewhere in one line per phase. */
export class Report {
  readonly #live = process.stderr.isTTY === true
  #last = ''

  /** Names the phase, and perhaps how far it is: only a terminal is told of every step. */
  say(phase: string, detail = ''): void {
    if (this.#live) process.stderr.write(`\r\x1b[K${phase}${detail === '' ? '' : `: ${detail}`}`)
    else if (phase !== this.#last) process.stderr.write(`${phase}\n`)
    this.#last = phase
  }

  /** Wipes the line. */
  end(): void {
    if (this.#live) process.stderr.write('\r\x1b[K')
  }
}
