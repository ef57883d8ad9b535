import type { IncomingMessage } from 'node:http'

/** Bodies that are no larger are not counted: they come with their heads. */
const SMALL = 64 * 1024

/** What bounds bodies that are being sent. */
export interface ArrivingBounds {
  /** Over all connections. Beyond it, those who have been sending for the longest time are hung up on. */
  readonly bytesMax: number
  /** No body is kept beyond so much. */
  readonly bodyBytesMax: number
}

/** Bodies that are on their way, by what they say they will hold: each is kept in memory until it is whole. */
export class Arriving {
  readonly #bounds: ArrivingBounds
  /** Who began first stands first. */
  readonly #bodies = new Map<IncomingMessage, number>()
  #bytes = 0

  constructor(bounds: ArrivingBounds) {
    this.#bounds = bounds
  }

  /** A request has begun. */
  began(incoming: IncomingMessage): void {
    const bytes = this.#expected(incoming)
    if (bytes <= SMALL) return
    this.#bodies.set(incoming, bytes)
    this.#bytes += bytes
    incoming.once('close', () => this.#forget(incoming))
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= this.#bounds.bytesMax) return
      this.#forget(oldest)
      oldest.socket.destroy()
    }
  }

  #expected({ headers }: IncomingMessage): number {
    const { bodyBytesMax } = this.#bounds
    if (headers['transfer-encoding'] !== undefined) return bodyBytesMax
    return Math.min(Number(headers['content-length'] ?? 0), bodyBytesMax)
  }

  #forget(incoming: IncomingMessage): void {
    this.#bytes -= this.#bodies.get(incoming) ?? 0
    this.#bodies.delete(incoming)
  }
}
