import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What bounds answers that wait for their readers. */
export interface BacklogBounds {
  /** A reader who takes nothing of a whole answer for so long is hung up on. A stream has its own bound. */
  readonly stallMs: number
  /** Over all connections. Beyond it, those who have not read for the longest time are hung up on. */
  readonly bytesMax: number
}

/** What was answered and is not yet taken by its readers. */
export class Backlog {
  readonly #bounds: BacklogBounds
  /** By connection, since one can ask for much before it reads anything; who has waited longest stands first. */
  readonly #waiting = new Map<Socket, Map<ServerResponse, number>>()
  readonly #known = new WeakSet<Socket>()
  #bytes = 0

  constructor(bounds: BacklogBounds) {
    this.#bounds = bounds
  }

  /** Something of an answer was written, perhaps all of it. */
  wrote(answer: ServerResponse): void {
    const { socket } = answer.req
    if (socket.destroyed) return
    this.#count(socket, answer)
    // Node takes it for progress when the kernel takes some of it.
    if (answer.writableEnded && this.#waiting.has(socket)) socket.setTimeout(this.#bounds.stallMs)
    if (this.#bytes > this.#bounds.bytesMax) this.#relieve()
  }

  /** All of it has gone out. */
  taken(answer: ServerResponse): void {
    const { socket } = answer.req
    const answers = this.#waiting.get(socket)
    if (answers?.has(answer)) this.#drop(socket, answers, answer)
  }

  #count(socket: Socket, answer: ServerResponse): void {
    const bytes = answer.writableLength
    const answers = this.#waiting.get(socket) ?? new Map<ServerResponse, number>()
    if (bytes === 0) {
      if (answers.has(answer)) this.#drop(socket, answers, answer)
      return
    }
    this.#bytes += bytes - (answers.get(answer) ?? 0)
    this.#waiting.set(socket, answers.set(answer, bytes))
    if (this.#known.has(socket)) return
    this.#known.add(socket)
    socket.once('close', () => this.#forget(socket))
  }

  #drop(socket: Socket, answers: Map<ServerResponse, number>, answer: ServerResponse): void {
    this.#bytes -= answers.get(answer)!
    answers.delete(answer)
    // What was asked for behind it may have been answered already.
    socket.setTimeout(answers.size > 0 ? this.#bounds.stallMs : 0)
    if (answers.size === 0) this.#waiting.delete(socket)
  }

  #forget(socket: Socket): void {
    for (const bytes of this.#waiting.get(socket)?.values() ?? []) this.#bytes -= bytes
    this.#waiting.delete(socket)
  }

  #relieve(): void {
    // What streams have sent is taken without a word here.
    for (const [socket, answers] of this.#waiting)
      for (const answer of answers.keys()) this.#count(socket, answer)
    for (const socket of this.#waiting.keys()) {
      if (this.#bytes <= this.#bounds.bytesMax) return
      this.#forget(socket)
      socket.destroy()
    }
  }
}

/** A server's answers, which tell a backlog of what they write. */
export function answersIn(backlog: Backlog): typeof ServerResponse {
  return class<R extends IncomingMessage> extends ServerResponse<R> {
    constructor(...given: ConstructorParameters<typeof ServerResponse<R>>) {
      super(...given)
      // Before Node's own, by which an idle connection gets its time.
      this.once('finish', () => backlog.taken(this))
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
