import type { IncomingMessage } from 'node:http'
import { ByteBudget } from './byte-budget.ts'

/** Bodies that declare no more than this are not counted: they arrive together with their headers. */
const SMALL_BYTES = 64 * 1024
const COUNT_EACH_MS = 250

/** What bounds bodies that are being received. */
export interface BodyBounds {
  /** Over all connections. Beyond it, the requests that began first are disconnected. */
  readonly bytesMax: number
  /** No more than this is kept of one body. */
  readonly bodyBytesMax: number
}

/** Bounds the bodies that are being received: each is kept in memory until it is complete. */
export class BodyLimiter {
  readonly #bodyBytesMax: number
  readonly #budget: ByteBudget<IncomingMessage>
  /** What the connection of each had read when the request began. */
  readonly #readBefore = new Map<IncomingMessage, number>()
  #counting: NodeJS.Timeout | undefined

  constructor({ bytesMax, bodyBytesMax }: BodyBounds) {
    this.#bodyBytesMax = bodyBytesMax
    this.#budget = new ByteBudget<IncomingMessage>(bytesMax, ({ socket }) => socket.destroy())
  }

  /** Counts the body of a request from now until it has arrived. */
  add(request: IncomingMessage): void {
    const { headers, socket } = request
    const isSmall = Number(headers['content-length'] ?? 0) <= SMALL_BYTES
    if (headers['transfer-encoding'] === undefined && isSmall) return
    this.#readBefore.set(request, socket.bytesRead)
    this.#counting ??= setInterval(() => this.#count(), COUNT_EACH_MS).unref()
    request.once('close', () => this.#remove(request))
  }

  #count(): void {
    for (const [request, before] of this.#readBefore) {
      const bytes = Math.min(request.socket.bytesRead - before, this.#bodyBytesMax)
      // At least one, so that requests keep the order in which they began.
      this.#budget.count(request, Math.max(1, bytes))
    }
    this.#budget.enforce()
  }

  #remove(request: IncomingMessage): void {
    this.#readBefore.delete(request)
    this.#budget.count(request, 0)
    if (this.#readBefore.size > 0) return
    clearInterval(this.#counting)
    this.#counting = undefined
  }
}
