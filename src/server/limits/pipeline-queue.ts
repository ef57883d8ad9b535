import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Beyond so many requests sent ahead a connection is read no further until some are answered. */
const AHEAD_READ = 8
/** What comes in one piece is read all the same: nobody who reads answers sends so many. */
const AHEAD_MAX = 100

interface Waiting {
  /** What it is answered with; null where nothing comes behind it. */
  readonly outgoing: ServerResponse | null
  readonly answer: () => void
}

/** A connection with a request that is being answered. */
interface Line {
  current: ServerResponse | null
  readonly ahead: Waiting[]
}

/**
 * Requests of one connection are answered one after the other, each once the answer before it has gone out. Whoever sends
 * many ahead and reads nothing has one of them worked on, and what is read behind a write sees what was written.
 */
export class PipelineQueue {
  readonly #lines = new WeakMap<Duplex, Line>()

  /** Answers at once, or when the connection's earlier requests are answered; not at all where it ends before. */
  take(outgoing: ServerResponse, answer: () => void): void {
    this.#take(outgoing.req.socket, { outgoing, answer })
  }

  /** Answers what makes the connection another one, or ends it, in the same order. */
  last(socket: Duplex, answer: () => void): void {
    // Node looks after it no more.
    socket.on('error', () => socket.destroy())
    const current = this.#lines.get(socket)?.current
    // A request that has not come to its end never will: this is about it, and it may have been answered already.
    if (current?.req.complete !== false) this.#take(socket, { outgoing: null, answer })
    else if (!current.headersSent) answer()
    else if (!current.writableEnded) socket.destroy()
  }

  #take(socket: Duplex, waiting: Waiting): void {
    const line = this.#lines.get(socket)
    if (line === undefined) {
      this.#begin(socket, { current: null, ahead: [] }, waiting)
      return
    }
    const ahead = line.ahead.push(waiting)
    if (ahead > AHEAD_MAX) socket.destroy()
    // Not before Node is done with this piece: it resumes whatever has sent a whole request.
    else if (ahead === AHEAD_READ + 1) process.nextTick(() => socket.pause())
  }

  #begin(socket: Duplex, line: Line, { outgoing, answer }: Waiting): void {
    line.current = outgoing
    this.#lines.set(socket, line)
    outgoing?.once('close', () => {
      if (line.ahead.length === 0 || socket.destroyed) this.#lines.delete(socket)
      // What the kernel takes at once never waits: one connection would be all that happens.
      else setImmediate(() => this.#next(socket, line))
    })
    answer()
  }

  #next(socket: Duplex, line: Line): void {
    if (socket.destroyed) return
    const next = line.ahead.shift()!
    if (line.ahead.length === AHEAD_READ) socket.resume()
    this.#begin(socket, line, next)
  }
}
