import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ByteBudget } from './byte-budget.ts'

const MIB = 1_048_576
/** The limits on bodies and responses, over all connections. */
export const HTTP_LIMITS = {
  /** Bodies that are being received, over all connections. Beyond it, the requests that began first are disconnected. */
  bodiesBytesMax: 256 * MIB,
  /**
   * Responses that were written and not read yet, over all connections. Beyond it, the clients that have not read for the
   * longest time are disconnected.
   */
  unreadBytesMax: 256 * MIB,
  /** A client that reads nothing of a complete response for this long is disconnected. Streams have their own limit. */
  stallMs: 30_000,
}

export type HttpLimits = Readonly<typeof HTTP_LIMITS>

/** With more requests waiting than this, reading from the connection stops until some are answered. */
const PIPELINED_PAUSE = 8
/**
 * With more requests waiting than this, the connection is destroyed. Reading cannot stop within a packet: all requests in it
 * are parsed. A client that reads responses never sends this many ahead.
 */
const PIPELINED_MAX = 100
/** Bodies that declare no more than this are not counted: they arrive together with their headers. */
const SMALL_BYTES = 64 * 1024
const COUNT_INTERVAL_MS = 250

interface Pipelined {
  /** What it is answered with; null where no response follows on this connection. */
  readonly outgoing: ServerResponse | null
  readonly answer: () => void
}

interface Pipeline {
  /** The request that is being answered. */
  current: ServerResponse | null
  readonly ahead: Pipelined[]
}

/**
 * Answers the requests of one connection one after the other, each once the response before it was sent. A client that
 * sends many ahead and reads nothing costs the work of one, and a GET that follows a POST on the same connection sees its
 * effect.
 */
export class PipelineQueue {
  readonly #pipelines = new WeakMap<Duplex, Pipeline>()

  /** Answers each request at once, or after the connection's earlier requests; never if the connection ends before. */
  inOrder(answer: RequestListener): RequestListener {
    return (incoming, outgoing) =>
      this.#add(incoming.socket, { outgoing, answer: () => answer(incoming, outgoing) })
  }

  /** Answers a request that upgrades or ends the connection, in the same order. */
  addFinal(socket: Duplex, answer: () => void): void {
    // Node no longer handles errors of this socket.
    socket.on('error', () => socket.destroy())
    const current = this.#pipelines.get(socket)?.current
    // If the request before this one is incomplete, it was cut off and never ends: this one is answered now, unless the
    // answer to that one has begun.
    if (current?.req.complete !== false) this.#add(socket, { outgoing: null, answer })
    else if (!current.headersSent) answer()
    else if (!current.writableEnded) socket.destroy()
  }

  #add(socket: Duplex, request: Pipelined): void {
    const pipeline = this.#pipelines.get(socket)
    if (pipeline === undefined) {
      this.#start(socket, { current: null, ahead: [] }, request)
      return
    }
    const ahead = pipeline.ahead.push(request)
    if (ahead > PIPELINED_MAX) socket.destroy()
    // Node resumes the socket after each request that it parses from this packet: an earlier pause would be undone.
    else if (ahead === PIPELINED_PAUSE + 1) process.nextTick(() => socket.pause())
  }

  #start(socket: Duplex, pipeline: Pipeline, { outgoing, answer }: Pipelined): void {
    pipeline.current = outgoing
    this.#pipelines.set(socket, pipeline)
    outgoing?.once('close', () => {
      if (pipeline.ahead.length === 0 || socket.destroyed) this.#pipelines.delete(socket)
      // The kernel may accept every response at once: without a pause, one connection would block all others.
      else setImmediate(() => this.#next(socket, pipeline))
    })
    answer()
  }

  #next(socket: Duplex, pipeline: Pipeline): void {
    if (socket.destroyed) return
    const next = pipeline.ahead.shift()!
    if (pipeline.ahead.length === PIPELINED_PAUSE) socket.resume()
    this.#start(socket, pipeline, next)
  }
}

/**
 * Limits the bodies that are being received: each is kept in memory until it is complete. Returns a function to call with
 * every request.
 */
export function bodyLimiter(
  { bodiesBytesMax }: HttpLimits,
  bodyBytesMax: number,
): (request: IncomingMessage) => void {
  const budget = new ByteBudget<IncomingMessage>(bodiesBytesMax, ({ socket }) => socket.destroy())
  /** How many bytes the connection had read when each request began. */
  const bytesReadAtStart = new Map<IncomingMessage, number>()
  let counting: NodeJS.Timeout | undefined
  const countAll = () => {
    for (const [request, atStart] of bytesReadAtStart) {
      const bytes = Math.min(request.socket.bytesRead - atStart, bodyBytesMax)
      // At least one: a count of 0 would remove the request, and it would lose its place among the oldest.
      budget.count(request, Math.max(1, bytes))
    }
    budget.enforce()
  }
  const remove = (request: IncomingMessage) => {
    bytesReadAtStart.delete(request)
    budget.count(request, 0)
    if (bytesReadAtStart.size > 0) return
    clearInterval(counting)
    counting = undefined
  }
  return (request) => {
    const { headers, socket } = request
    const isSmall = Number(headers['content-length'] ?? 0) <= SMALL_BYTES
    if (headers['transfer-encoding'] === undefined && isSmall) return
    bytesReadAtStart.set(request, socket.bytesRead)
    counting ??= setInterval(countAll, COUNT_INTERVAL_MS).unref()
    request.once('close', () => remove(request))
  }
}

/**
 * The class of a server's responses. It limits those that were written and not read yet: one per connection, since requests
 * are answered in order.
 */
export function responseLimiter({ unreadBytesMax, stallMs }: HttpLimits): typeof ServerResponse {
  const unread = new ByteBudget<ServerResponse>(unreadBytesMax, ({ req }) => req.socket.destroy())
  /** Part of a response was written, perhaps all of it. */
  const wrote = (response: ServerResponse) => {
    const { socket } = response.req
    if (socket.destroyed) return
    if (response.writableLength === 0) sent(response)
    else unread.count(response, response.writableLength)
    // Set the idle timeout once the response is complete: Node restarts it whenever the kernel accepts some bytes.
    if (response.writableEnded && unread.has(response)) socket.setTimeout(stallMs)
    if (!unread.isExceeded) return
    // Streams send what was buffered without a call here, so count again before anyone is disconnected.
    unread.recount(({ writableLength }) => writableLength)
    unread.enforce()
  }
  /** All of it was sent, or its reader has gone. */
  const sent = (response: ServerResponse) => {
    if (!unread.has(response)) return
    unread.count(response, 0)
    response.req.socket.setTimeout(0)
  }
  return class<R extends IncomingMessage> extends ServerResponse<R> {
    constructor(...args: ConstructorParameters<typeof ServerResponse<R>>) {
      super(...args)
      // Before Node's own listener, which sets the timeout of an idle connection.
      this.once('finish', () => sent(this))
      this.once('close', () => sent(this))
    }

    override write(...args: unknown[]): boolean {
      const isBelowMark = super.write(...(args as [string]))
      wrote(this)
      return isBelowMark
    }

    override end(...args: unknown[]): this {
      super.end(...(args as []))
      wrote(this)
      return this
    }
  }
}
