/** Parses server-sent events from chunks of text, which may be cut anywhere. Their ids and types are in their data, too. */
export class SseReader {
  #rest = ''
  #afterReturn = false
  #begun = false
  #data: string[] = []
  /** The delay before a reconnect, if the server sets one. */
  retryMs: number | null = null

  /** The data of the events that this chunk completes. */
  push(text: string): string[] {
    return this.#lines(text).flatMap((line) => this.#line(line))
  }

  /** Complete lines, which end in CR, LF or both. A chunk may end between CR and LF. */
  #lines(text: string): string[] {
    let piece = text
    if (!this.#begun && piece !== '') {
      this.#begun = true
      piece = piece.replace(/^\ufeff/, '')
    }
    if (this.#afterReturn && piece.startsWith('\n')) piece = piece.slice(1)
    if (text !== '') this.#afterReturn = text.endsWith('\r')
    const lines = (this.#rest + piece).split(/\r\n|\r|\n/)
    this.#rest = lines.pop()!
    return lines
  }

  #line(line: string): string[] {
    if (line === '') return this.#dispatch()
    const [field, value = ''] = line.split(/:(.*)/s)
    if (field === 'data') this.#data.push(value.replace(/^ /, ''))
    if (field === 'retry' && /^ ?\d{1,9}$/.test(value)) this.retryMs = Number(value)
    return []
  }

  #dispatch(): string[] {
    const data = this.#data
    this.#data = []
    return data.length === 0 ? [] : [data.join('\n')]
  }
}
