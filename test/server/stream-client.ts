import { type ClientRequest, request } from 'node:http'

/** An event of a stream, as a browser would dispatch it. */
export interface Sent {
  readonly id: string
  readonly type: string
  readonly data: string
}

/** Parses a stream as an EventSource does: complete events only, and the last id is remembered. */
export class StreamReader {
  lastId: string | null
  readonly events: Sent[] = []
  readonly comments: string[] = []
  #rest = ''

  constructor(lastId: string | null = null) {
    this.lastId = lastId
  }

  push(text: string): void {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop()!
    for (const block of blocks) this.#block(block.split('\n'))
  }

  /** A connection has ended: an incomplete event is dropped. */
  forget(): void {
    this.#rest = ''
  }

  #block(lines: readonly string[]): void {
    const [fields, data]: [Record<string, string>, string[]] = [{}, []]
    for (const line of lines) {
      const [, name, value] = /^([^:]*): ?(.*)$/.exec(line) ?? []
      if (name === '') this.comments.push(value!)
      else if (name === 'data') data.push(value!)
      else if (name !== undefined) fields[name] = value!
    }
    if (fields.id !== undefined) this.lastId = fields.id
    if (data.length > 0)
      this.events.push({ id: this.lastId!, type: fields.event ?? 'message', data: data.join('\n') })
  }
}

/** Opens a stream and passes its text to the reader. `ended` resolves when it is over, for whatever reason. */
export function openStream(url: string, reader: StreamReader, headers: Record<string, string> = {}) {
  const ended = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<number>()
  const asked: ClientRequest = request(url, {
    agent: false,
    headers: { ...headers, ...(reader.lastId !== null && { 'last-event-id': reader.lastId }) },
  })
  asked.on('response', (answer) => {
    opened.resolve(answer.statusCode!)
    answer.setEncoding('utf8')
    answer.on('data', (text: string) => reader.push(text))
    answer.on('close', () => ended.resolve())
    answer.on('error', () => {})
  })
  asked.on('error', () => {
    opened.resolve(0)
    ended.resolve()
  })
  asked.end()
  return { opened: opened.promise, ended: ended.promise, cut: () => asked.destroy(), asked }
}

/** Reads streams one after the other, each cut at a random moment, until it is stopped. */
export function readInPieces(
  urls: readonly string[],
  reader: StreamReader,
  headers: Record<string, string>,
  random: () => number,
) {
  let isOver = false
  let cuts = 0
  const reading = (async () => {
    while (!isOver) {
      const { push } = reader
      const bytesMax = 500 + random() * 60_000
      let bytes = 0
      const stream = openStream(urls[cuts % urls.length]!, reader, headers)
      reader.push = (text) => {
        bytes += text.length
        if (bytes > bytesMax) stream.cut()
        push.call(
          reader,
          bytes > bytesMax ? text.slice(0, Math.max(0, text.length - (bytes - bytesMax))) : text,
        )
      }
      await stream.opened
      const cutting = setTimeout(stream.cut, random() * 60)
      await stream.ended
      clearTimeout(cutting)
      reader.push = push
      reader.forget()
      cuts += 1
    }
  })()
  return {
    /** Returns how often it was cut. */
    stop: async () => {
      isOver = true
      await reading
      return cuts
    },
  }
}
