import type { WebSocket } from 'ws'
import type { Clock } from '../../time/index.ts'

/** What bounds what waits for a reader. */
export interface OutboxParts {
  readonly socket: Pick<WebSocket, 'bufferedAmount' | 'readyState' | 'OPEN' | 'send'>
  readonly clock: Clock
  readonly bytesMax: number
  /** How long a full one may take to make room. */
  readonly stallMs: number
}

/** What goes out to one reader. Once more than so much waits for it, `room` waits too; where that takes too long, it stalls. */
export class Outbox {
  readonly #parts: OutboxParts
  readonly #onStalled: () => void
  #waiting: (() => void)[] = []
  #cancelStall: (() => void) | null = null
  #isClosed = false

  constructor(parts: OutboxParts, onStalled: () => void) {
    this.#parts = parts
    this.#onStalled = onStalled
  }

  send(text: string): void {
    const { socket } = this.#parts
    if (this.#isClosed || socket.readyState !== socket.OPEN) return
    socket.send(text, () => this.#sent())
  }

  /** Resolves when there is room for more, or when it is closed. */
  room(): Promise<void> {
    const { socket, clock, bytesMax, stallMs } = this.#parts
    if (this.#isClosed || socket.bufferedAmount <= bytesMax) return Promise.resolve()
    this.#cancelStall ??= clock.setTimer(stallMs, this.#onStalled)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Nothing more goes out; nobody waits any longer. */
  close(): void {
    this.#isClosed = true
    this.#free()
  }

  /** Half empty: so that who waits is not woken for every few bytes. */
  #sent(): void {
    if (this.#waiting.length > 0 && this.#parts.socket.bufferedAmount <= this.#parts.bytesMax / 2)
      this.#free()
  }

  #free(): void {
    this.#cancelStall?.()
    this.#cancelStall = null
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}
