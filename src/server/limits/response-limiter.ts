import { type IncomingMessage, ServerResponse } from 'node:http'
import { ByteBudget } from './byte-budget.ts'

/** What bounds responses that wait to be read. */
export interface ResponseBounds {
  /** A client that reads nothing of a complete response for this long is disconnected. Streams have their own bound. */
  readonly stallMs: number
  /** Over all connections. Beyond it, the clients that have not read for the longest time are disconnected. */
  readonly bytesMax: number
}

/** Bounds the responses that were written and not read yet: one per connection, since requests are answered in order. */
export class ResponseLimiter {
  readonly #stallMs: number
  readonly #unread: ByteBudget<ServerResponse>

  constructor({ stallMs, bytesMax }: ResponseBounds) {
    this.#stallMs = stallMs
    this.#unread = new ByteBudget<ServerResponse>(bytesMax, ({ req }) => req.socket.destroy())
  }

  /** Part of a response was written, perhaps all of it. */
  wrote(response: ServerResponse): void {
    const { socket } = response.req
    if (socket.destroyed) return
    if (response.writableLength === 0) this.sent(response)
    else this.#unread.count(response, response.writableLength)
    // Node counts it as progress when the kernel accepts some of it.
    if (response.writableEnded && this.#unread.has(response)) socket.setTimeout(this.#stallMs)
    if (!this.#unread.isExceeded) return
    // Streams send what was buffered without a call here, so count again before anyone is disconnected.
    this.#unread.recount(({ writableLength }) => writableLength)
    this.#unread.enforce()
  }

  /** All of it was sent, or its reader has gone. */
  sent(response: ServerResponse): void {
    if (!this.#unread.has(response)) return
    this.#unread.count(response, 0)
    response.req.socket.setTimeout(0)
  }
}

/** The class of a server's responses, which report to the limiter what they write. */
export function limitedResponse(limiter: ResponseLimiter): typeof ServerResponse {
  return class<R extends IncomingMessage> extends ServerResponse<R> {
    constructor(...args: ConstructorParameters<typeof ServerResponse<R>>) {
      super(...args)
      // Before Node's own listener, which sets the timeout of an idle connection.
      this.once('finish', () => limiter.sent(this))
      this.once('close', () => limiter.sent(this))
    }

    override write(...args: unknown[]): boolean {
      const isBelowMark = super.write(...(args as [string]))
      limiter.wrote(this)
      return isBelowMark
    }

    override end(...args: unknown[]): this {
      super.end(...(args as []))
      limiter.wrote(this)
      return this
    }
  }
}
