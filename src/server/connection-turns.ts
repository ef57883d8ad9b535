import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests that a connection may have sent ahead. Nobody who reads answers comes near it. */
const AHEAD_MAX = 1_000

interface Waiting {
  /** What it is answered with; null where nothing comes behind it. */
  readonly outgoing: ServerResponse | null
  readonly answer: () => void
}

/**
 * Requests of one connection are answered one after the other, each once the answer before it has gone out. Whoever sends
 * many ahead and reads nothing has one of them worked on, and what is read behind a write sees what was written.
 */
export class ConnectionTurns {
  /** What waits behind the request that is being answered. */
  readonly #ahead = new WeakMap<Duplex, Waiting[]>()

  /** Answers at once, or when the connection's earlier requests are answered; not at all where it ends before. */
  take(outgoing: ServerResponse, answer: () => void): void {
    this.#take(outgoing.req.socket, { outgoing, answer })
  }

  /** Answers what makes the connection another one, or ends it, in the same order. */
  last(socket: Duplex, answer: () => void): void {
    // Node looks after it no more.
    socket.on('error', () => socket.destroy())
    this.#take(socket, { outgoing: null, answer })
  }

  #take(socket: Duplex, waiting: Waiting): void {
    const ahead = this.#ahead.get(socket)
    if (ahead === undefined) this.#begin(socket, [], waiting)
    else if (ahead.length < AHEAD_MAX) ahead.push(waiting)
    else socket.destroy()
  }

  #begin(socket: Duplex, ahead: Waiting[], { outgoing, answer }: Waiting): void {
    this.#ahead.set(socket, ahead)
    outgoing?.once('close', () => {
      const next = socket.destroyed ? undefined : ahead.shift()
      if (next === undefined) this.#ahead.delete(socket)
      else this.#begin(socket, ahead, next)
    })
    answer()
  }
}
