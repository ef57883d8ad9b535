/**
 * The calls of one WebSocket: a bounded number run at the same time, and those that wait are bounded by the bytes of their
 * messages. One that is too large for that waits if no other does, since it could never run otherwise.
 */
export class CallQueue {
  readonly #concurrency: number
  readonly #waitingBytesMax: number
  readonly #waiting: (() => void)[] = []
  #waitingBytes = 0
  #running = 0
  #lastLarge: Promise<void> = Promise.resolve()

  constructor(concurrency: number, waitingBytesMax: number) {
    this.#concurrency = concurrency
    this.#waitingBytesMax = waitingBytesMax
  }

  /**
   * Runs a call, now or later; false if too much waits. Calls with large answers run one after the other, so that a reader
   * that does not read has one answer in memory, not all. `call` must not throw.
   */
  add(bytes: number, isLarge: boolean, call: () => Promise<void>): boolean {
    if (this.#running < this.#concurrency) {
      void this.#run(isLarge, call)
      return true
    }
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#waitingBytesMax) return false
    this.#waitingBytes += bytes
    this.#waiting.push(() => {
      this.#waitingBytes -= bytes
      void this.#run(isLarge, call)
    })
    return true
  }

  /** Drops the calls that wait. */
  close(): void {
    this.#waiting.length = 0
  }

  async #run(isLarge: boolean, call: () => Promise<void>): Promise<void> {
    this.#running += 1
    if (isLarge) await this.#inTurn(call)
    else await call()
    this.#running -= 1
    this.#waiting.shift()?.()
  }

  #inTurn(call: () => Promise<void>): Promise<void> {
    this.#lastLarge = this.#lastLarge.then(call)
    return this.#lastLarge
  }
}
