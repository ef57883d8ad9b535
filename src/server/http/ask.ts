import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HeaderReader, NodeHeaders } from './node-side.ts'

/** What a request is answered with. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ReadableStream<Uint8Array>
}

/**
 * A request to an operation, as Node gives it, and the way back, with no `Request` and no `Response` in between.
 */
export class Ask {
  readonly headers: HeaderReader
  /** What stands in the path where its pattern has names. */
  readonly params: Readonly<Record<string, string>>
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #search: string
  #query: URLSearchParams | null = null
  #gone: AbortController | null = null

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { search, params }: { readonly search: string; readonly params: Readonly<Record<string, string>> },
  ) {
    this.headers = new NodeHeaders(incoming)
    this.params = params
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#search = search
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search)
    return this.#query
  }

  /** Aborted when the caller has gone. Made only where somebody looks at it: few calls wait for anything. */
  get signal(): AbortSignal {
    if (this.#gone === null) {
      const gone = new AbortController()
      const look = () => {
        if (!this.#outgoing.writableFinished) gone.abort()
      }
      if (this.#outgoing.destroyed) look()
      else this.#outgoing.once('close', look)
      this.#gone = gone
    }
    return this.#gone.signal
  }

  /** The body, up to the bound; null where it is longer. What comes after is not kept. */
  read(bytesMax: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = []
      let size = 0
      this.#incoming.on('data', (chunk: Uint8Array) => {
        size += chunk.byteLength
        if (size <= bytesMax) chunks.push(chunk)
        else resolve(null)
      })
      this.#incoming.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
      this.#incoming.once('error', reject)
      this.#incoming.once('close', () => reject(new Error('the body broke off')))
    })
  }

  async answer({ status, headers, body }: Answer): Promise<void> {
    // Whoever has gone takes no answer.
    if (this.#outgoing.headersSent || this.#outgoing.destroyed) return
    if (typeof body !== 'string') {
      this.#outgoing.writeHead(status, headers)
      await this.#stream(body)
      return
    }
    this.#outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    this.#outgoing.end(body)
  }

  /** Ends the connection, whatever was sent of the answer. */
  hangUp(): void {
    this.#outgoing.destroy()
  }

  /** Takes from the stream only what the connection takes, and tells it when that is gone. */
  async #stream(stream: ReadableStream<Uint8Array>): Promise<void> {
    const outgoing = this.#outgoing
    const reader = stream.getReader()
    const cancel = () => void reader.cancel().catch(() => {})
    outgoing.once('close', cancel)
    outgoing.flushHeaders()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || outgoing.destroyed) break
      if (!outgoing.write(value)) await drained(outgoing)
    }
    outgoing.off('close', cancel)
    outgoing.end()
  }
}

/** Until the connection takes more, or is gone. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
}
