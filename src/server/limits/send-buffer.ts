import type { WebSocket } from 'ws'
import type { Clock } from '../../time/index.ts'
import type { ByteBudget } from './byte-budget.ts'

/** Less than this is not counted in the budget of all: it is being sent. */
const SMALL_BYTES = 64 * 1024

/** What bounds the messages that wait for one reader. */
export interface SendBufferOptions {
  readonly socket: Pick<WebSocket, 'bufferedAmount' | 'readyState' | 'OPEN' | 'send' | 'pong' | 'terminate'>
  readonly clock: Clock
  readonly bytesMax: number
  /** How long a full buffer may take to drain. */
  readonly stallMs: number
  /** What waits for the readers of all WebSockets. */
  readonly budget: ByteBudget<SendBuffer>
}

/**
 * The messages that wait for the reader of one WebSocket. Beyond the maximum, `drained` waits; if the reader makes no
 * progress for too long, `onStalled` is called.
 */
export class SendBuffer {
  readonly #options: SendBufferOptions
  readonly #onStalled: () => void
  #waiting: (() => void)[] = []
  #cancelStall: (() => void) | null = null
  #isClosed = false

  constructor(options: SendBufferOptions, onStalled: () => void) {
    this.#options = options
    this.#onStalled = onStalled
  }

  send(text: string): void {
    const { socket } = this.#options
    if (this.#isClosed || socket.readyState !== socket.OPEN) return
    // As bytes: a buffered string is counted in characters, and takes two bytes for each if one of them is not Latin-1.
    socket.send(Buffer.from(text), { binary: false }, () => this.#sent())
    this.#count()
    if (this.#isFull) this.#startStallTimer()
  }

  /** Answers a ping, unless the reader does not read: its pings must not fill the buffer. */
  pong(data: Buffer): void {
    const { socket } = this.#options
    if (!this.#isClosed && !this.#isFull && socket.readyState === socket.OPEN) socket.pong(data)
  }

  /** Resolves when more may be sent, or when the buffer is closed. */
  drained(): Promise<void> {
    if (this.#isClosed || !this.#isFull) return Promise.resolve()
    this.#startStallTimer()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Disconnects the reader and drops what waits for it. */
  terminate(): void {
    this.#options.socket.terminate()
  }

  /** Sends nothing more, and ends every wait. */
  close(): void {
    this.#isClosed = true
    this.#release()
  }

  /** The socket has closed: nothing waits any more. */
  closed(): void {
    this.#options.budget.count(this, 0)
  }

  get #isFull(): boolean {
    const { socket, bytesMax } = this.#options
    return socket.bufferedAmount > bytesMax
  }

  #startStallTimer(): void {
    const { clock, stallMs } = this.#options
    this.#cancelStall ??= clock.setTimer(stallMs, this.#onStalled)
  }

  #count(): void {
    const { socket, budget } = this.#options
    const bytes = socket.readyState === socket.OPEN ? socket.bufferedAmount : 0
    budget.count(this, bytes > SMALL_BYTES ? bytes : 0)
    budget.enforce()
  }

  #sent(): void {
    const { socket, bytesMax } = this.#options
    this.#count()
    // At half, so that waiting senders are not woken for every few bytes.
    if (this.#cancelStall !== null && socket.bufferedAmount <= bytesMax / 2) this.#release()
  }

  #release(): void {
    this.#cancelStall?.()
    this.#cancelStall = null
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
