/** One event of a stream: its id, its name and its text. */
export interface SentEvent {
  /** The newest id so far, also where this event has none of its own. */
  readonly id: string
  readonly type: string
  readonly data: string
}

/** Reads server-sent events out of text that comes in pieces, wherever these are cut. */
export class SseReader {
  #rest = ''
  #afterReturn = false
  #begun = false
  #id = ''
  #type = ''
  #data: string[] = []
  /** How long the server asks to wait before a stream that ended is opened again. */
  retryMs: number | null = null

  /** The events that this piece completes. */
  push(text: string): SentEvent[] {
    const events: SentEvent[] = []
    for (const line of this.#lines(text)) {
      const event = this.#line(line)
      if (event !== null) events.push(event)
    }
    return events
  }

  /** Whole lines: they end in CR, LF or both, and a piece may end between the two. */
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

  #line(line: string): SentEvent | null {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#type = value
    else if (field === 'id' && !value.includes('\0')) this.#id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value)
    return null
  }

  #dispatch(): SentEvent | null {
    const [type, data] = [this.#type || 'message', this.#data]
    this.#type = ''
    this.#data = []
    return data.length === 0 ? null : { id: this.#id, type, data: data.join('\n') }
  }
}
