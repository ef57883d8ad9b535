import { type IncomingMessage, ServerResponse } from 'node:http'

/** What bounds answers that wait for their readers. */
export interface ResponseBounds {
  /** A reader who takes nothing of a whole answer for so long is hung up on. A stream has its own bound. */
  readonly stallMs: number
  /** Over all connections. Beyond it, those who have not read for the longest time are hung up on. */
  readonly bytesMax: number
}

/** What was answered and is not yet taken by its readers: one answer per connection, since each has its turn. */
export class ResponseLimiter {
  readonly #bounds: ResponseBounds
  /** In bytes; who has waited longest stands first. */
  readonly #waiting = new Map<ServerResponse, number>()
  #bytes = 0

  constructor(bounds: ResponseBounds) {
    this.#bounds = bounds
  }

  /** Something of an answer was written, perhaps all of it. */
  wrote(answer: ServerResponse): void {
    const { socket } = answer.req
    if (socket.destroyed) return
    this.#count(answer)
    // Node takes it for progress when the kernel takes some of it.
    if (answer.writableEnded && this.#waiting.has(answer)) socket.setTimeout(this.#bounds.stallMs)
    if (this.#bytes > this.#bounds.bytesMax) this.#relieve()
  }

  /** All of it has gone out, or its reader has gone. */
  taken(answer: ServerResponse): void {
    if (!this.#waiting.has(answer)) return
    this.#forget(answer)
    answer.req.socket.setTimeout(0)
  }

  #count(answer: ServerResponse): void {
    const bytes = answer.writableLength
    if (bytes === 0) {
      this.taken(answer)
      return
    }
    this.#bytes += bytes - (this.#waiting.get(answer) ?? 0)
    this.#waiting.set(answer, bytes)
  }

  #forget(answer: ServerResponse): void {
    this.#bytes -= this.#waiting.get(answer) ?? 0
    this.#waiting.delete(answer)
  }

  #relieve(): void {
    // What streams have sent is taken without a word here.
    for (const answer of this.#waiting.keys()) this.#count(answer)
    for (const answer of this.#waiting.keys()) {
      if (this.#bytes <= this.#bounds.bytesMax) return
      this.#forget(answer)
      answer.req.socket.destroy()
    }
  }
}

/** A server's answers, which tell a backlog of what they write. */
export function limitedResponse(backlog: ResponseLimiter): typeof ServerResponse {
  return class<R extends IncomingMessage> extends ServerResponse<R> {
    constructor(...given: ConstructorParameters<typeof ServerResponse<R>>) {
      super(...given)
      // Before Node's own, by which an idle connection gets its time.
      this.once('finish', () => backlog.taken(this))
      this.once('close', () => backlog.taken(this))
    }

    override write(...given: unknown[]): boolean {
      const hasRoom = super.write(...(given as [string]))
      backlog.wrote(this)
      return hasRoom
    }

    override end(...given: unknown[]): this {
      super.end(...(given as []))
      backlog.wrote(this)
      return this
    }
  }
}
