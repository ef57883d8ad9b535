import type { WebSocket } from 'ws'
import type { Clock } from '../../time/index.ts'
import type { Unread } from './byte-budget.ts'

/** What bounds what waits for a reader. */
export interface SendBufferOptions {
  readonly socket: Pick<WebSocket, 'bufferedAmount' | 'readyState' | 'OPEN' | 'send' | 'pong' | 'terminate'>
  readonly clock: Clock
  readonly bytesMax: number
  /** How long a full one may take to make room. */
  readonly stallMs: number
  /** What waits for all readers. */
  readonly unread: Unread
}

/** What goes out to one reader. Once more than so much waits for it, `room` waits too; where it makes none for too long, it stalls. */
export class SendBuffer {
  readonly #parts: SendBufferOptions
  readonly #onStalled: () => void
  #waiting: (() => void)[] = []
  #cancelStall: (() => void) | null = null
  #isClosed = false

  constructor(parts: SendBufferOptions, onStalled: () => void) {
    this.#parts = parts
    this.#onStalled = onStalled
  }

  send(text: string): void {
    const { socket } = this.#parts
    if (this.#isClosed || socket.readyState !== socket.OPEN) return
    // As bytes: a text that waits would be counted in characters, and takes two bytes for each where one of them is no Latin.
    socket.send(Buffer.from(text), { binary: false }, () => this.#sent())
    this.#parts.unread.count(this, socket.bufferedAmount)
    if (this.#isFull) this.#expectRoom()
  }

  /** A reader who asks whether we live, and takes no answers, is given none. */
  pong(data: Buffer): void {
    const { socket } = this.#parts
    if (!this.#isClosed && !this.#isFull && socket.readyState === socket.OPEN) socket.pong(data)
  }

  /** Resolves when there is room for more, or when it is closed. */
  room(): Promise<void> {
    if (this.#isClosed || !this.#isFull) return Promise.resolve()
    this.#expectRoom()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Lets go of a reader, and of what waits for it. */
  cut(): void {
    this.#parts.socket.terminate()
  }

  /** Nothing more goes out; nobody waits any longer. */
  close(): void {
    this.#isClosed = true
    this.#free()
  }

  get #isFull(): boolean {
    const { socket, bytesMax } = this.#parts
    return socket.bufferedAmount > bytesMax
  }

  #expectRoom(): void {
    const { clock, stallMs } = this.#parts
    this.#cancelStall ??= clock.setTimer(stallMs, this.#onStalled)
  }

  /** Half empty: so that who waits is not woken for every few bytes. */
  #sent(): void {
    const { socket, bytesMax, unread } = this.#parts
    unread.count(this, socket.readyState === socket.OPEN ? socket.bufferedAmount : 0)
    if (this.#cancelStall !== null && socket.bufferedAmount <= bytesMax / 2) this.#free()
  }

  #free(): void {
    this.#cancelStall?.()
    this.#cancelStall = null
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}
