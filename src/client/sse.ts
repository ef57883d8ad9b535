/** One event of a stream: its id, its name and its text. */
export interface SentEvent {
  /** The newest id so far, even if this event has none. */
  readonly id: string
  readonly type: string
  readonly data: string
}

/** Parses server-sent events from chunks of text, which may be cut anywhere. */
export class SseReader {
  #rest = ''
  #afterReturn = false
  #begun = false
  #id = ''
  #type = ''
  #data: string[] = []
  /** The delay before a reconnect, if the server sets one. */
  retryMs: number | null = null

  /** The events that this chunk completes. */
  push(text: string): SentEvent[] {
    const events: SentEvent[] = []
    for (const line of this.#lines(text)) {
      const event = this.#line(line)
      if (event !== null) events.push(event)
    }
    return events
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
