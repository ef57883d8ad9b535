import { type ClientRequest, request } from 'node:http'

/** An event of a stream, as a browser would dispatch it. */
export interface Sent {
  readonly id: string
  readonly type: string
  readonly data: string
}

/** A reader of a stream that takes what comes as an EventSource does: whole events only, the last id kept. */
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

  /** A connection has ended: half an event is none. */
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

/** Opens a stream; every piece of text goes to the reader. `ended` resolves when it is over, however it came to be. */
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
