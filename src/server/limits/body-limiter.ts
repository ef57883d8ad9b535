import type { IncomingMessage } from 'node:http'

/** Bodies that say that they are no larger are not counted: they come with their heads. */
const SMALL = 64 * 1024
const LOOK_EACH_MS = 250

/** What bounds bodies that are being sent. */
export interface BodyBounds {
  /** Over all connections. Beyond it, those who have been sending for the longest time are hung up on. */
  readonly bytesMax: number
  /** No body is kept beyond so much. */
  readonly bodyBytesMax: number
}

/** Bodies that are on their way: what has come of each is kept in memory until it is whole. */
export class BodyLimiter {
  readonly #bounds: BodyBounds
  /** What their connections had read when they began; who began first stands first. */
  readonly #begunAt = new Map<IncomingMessage, number>()
  #looking: NodeJS.Timeout | undefined

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds
  }

  /** A request has begun. */
  began(incoming: IncomingMessage): void {
    const { headers, socket } = incoming
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL) return
    this.#begunAt.set(incoming, socket.bytesRead)
    this.#looking ??= setInterval(() => this.#look(), LOOK_EACH_MS).unref()
    incoming.once('close', () => this.#forget(incoming))
  }

  #look(): void {
    const { bytesMax, bodyBytesMax } = this.#bounds
    const kept = ({ socket }: IncomingMessage, begunAt: number) =>
      Math.min(socket.bytesRead - begunAt, bodyBytesMax)
    let bytes = 0
    for (const [incoming, begunAt] of this.#begunAt) bytes += kept(incoming, begunAt)
    for (const [incoming, begunAt] of this.#begunAt) {
      if (bytes <= bytesMax) return
      bytes -= kept(incoming, begunAt)
      this.#forget(incoming)
      incoming.socket.destroy()
    }
  }

  #forget(incoming: IncomingMessage): void {
    this.#begunAt.delete(incoming)
    if (this.#begunAt.size > 0) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }
}
