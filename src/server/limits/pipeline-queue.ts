import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** With more pipelined requests than this, a connection is not read until some are answered. */
const AHEAD_READ = 8
/** Requests that arrive in one packet are all parsed. A client that reads responses never sends this many ahead. */
const AHEAD_MAX = 100

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
 * sends many ahead and reads nothing costs the work of one, and a read behind a write sees what was written.
 */
export class PipelineQueue {
  readonly #pipelines = new WeakMap<Duplex, Pipeline>()

  /** Answers at once, or after the connection's earlier requests; never if the connection ends before. */
  add(outgoing: ServerResponse, answer: () => void): void {
    this.#add(outgoing.req.socket, { outgoing, answer })
  }

  /** Answers a request that upgrades or ends the connection, in the same order. */
  addLast(socket: Duplex, answer: () => void): void {
    // Node no longer handles errors of this socket.
    socket.on('error', () => socket.destroy())
    const current = this.#pipelines.get(socket)?.current
    // An incomplete request was cut off. Answer it now, unless it was answered already: the rest will never arrive.
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
    if (ahead > AHEAD_MAX) socket.destroy()
    // After Node is done with this packet: it resumes a socket after each complete request.
    else if (ahead === AHEAD_READ + 1) process.nextTick(() => socket.pause())
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
    if (pipeline.ahead.length === AHEAD_READ) socket.resume()
    this.#start(socket, pipeline, next)
  }
}
