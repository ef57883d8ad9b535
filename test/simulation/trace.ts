/** Whether a trace keeps its lines or only their hash. Thousands of runs need no lines. */
export type TraceMode = 'lines' | 'hash'

/** What happened, line by line. The same seed gives the same trace, byte for byte. */
export class Trace {
  readonly lines: string[] = []
  readonly #mode: TraceMode
  #low = 0x41c6ce57
  #high = 0xdeadbeef
  #count = 0

  constructor(mode: TraceMode = 'lines') {
    this.#mode = mode
  }

  note(at: number, name: string, what: string): void {
    const line = `${at.toFixed(3)} ${name} ${what}`
    this.#count += 1
    this.#mix(line)
    if (this.#mode === 'lines') this.lines.push(line)
  }

  /** The number of lines. */
  get count(): number {
    return this.#count
  }

  get text(): string {
    return this.lines.join('\n')
  }

  /** A 53-bit hash of all lines in order (cyrb53). */
  get hash(): string {
    const low = Math.imul(this.#low ^ (this.#low >>> 16), 2246822507) ^ (this.#high >>> 13)
    const high = Math.imul(this.#high ^ (this.#high >>> 16), 3266489909) ^ (this.#low >>> 13)
    return (2 ** 32 * (high & 0x1fffff) + (low >>> 0)).toString(16).padStart(14, '0')
  }

  #mix(line: string): void {
    let [low, high] = [this.#low, this.#high]
    for (let i = 0; i < line.length; i++) {
      const code = line.charCodeAt(i)
      low = Math.imul(low ^ code, 1597334677)
      high = Math.imul(high ^ code, 2654435761)
    }
    // The end of a line is part of the hash.
    this.#low = Math.imul(low ^ 10, 1597334677)
    this.#high = Math.imul(high ^ 10, 2654435761)
  }
}
