import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that a connection may have sent ahead. Nobody who reads answers comes near it. */
const AHEAD_MAX = 1_000

interface Waiting {
  readonly outgoing: ServerResponse
  readonly answer: () => void
}

/**
 * Requests of one connection are answered one after the other, each once the answer before it has gone out. Whoever sends
 * many ahead and reads nothing has one of them worked on, and what is read behind a write sees what was written.
 */
export class ConnectionTurns {
  /** What waits behind the request that is being answered. */
  readonly #ahead = new WeakMap<Socket, Waiting[]>()

  /** Answers at once, or when the connection's earlier requests are answered; not at all where it ends before. */
  take(outgoing: ServerResponse, answer: () => void): void {
    const { socket } = outgoing.req
    const ahead = this.#ahead.get(socket)
    if (ahead === undefined) this.#begin(socket, [], { outgoing, answer })
    else if (ahead.length < AHEAD_MAX) ahead.push({ outgoing, answer })
    else socket.destroy()
  }

  #begin(socket: Socket, ahead: Waiting[], { outgoing, answer }: Waiting): void {
    this.#ahead.set(socket, ahead)
    outgoing.once('close', () => {
      const next = socket.destroyed ? undefined : ahead.shift()
      if (next === undefined) this.#ahead.delete(socket)
      else this.#begin(socket, ahead, next)
    })
    answer()
  }
}
