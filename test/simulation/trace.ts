/** What happened, line by line: the same seed gives the same, byte for byte. */
export class Trace {
  readonly lines: string[] = []

  note(at: number, who: string, what: string): void {
    this.lines.push(`${at.toFixed(3)} ${who} ${what}`)
  }

  get text(): string {
    return this.lines.join('\n')
  }
}
