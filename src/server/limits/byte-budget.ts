/** Somebody for whom something waits, and who can be let go of. */
interface Reader {
  cut(): void
}

/** What is less is not counted: it is on its way. */
const SMALL = 64 * 1024

/** What waits for readers of all WebSockets together. Beyond so much, those who have not read for the longest time are cut off. */
export class Unread {
  readonly #bytesMax: number
  /** In bytes; who has waited longest stands first. */
  readonly #waiting = new Map<Reader, number>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** So much waits for a reader now. */
  count(reader: Reader, bytes: number): void {
    this.#set(reader, bytes > SMALL ? bytes : 0)
    for (const oldest of this.#waiting.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#set(oldest, 0)
      oldest.cut()
    }
  }

  #set(reader: Reader, bytes: number): void {
    this.#bytes += bytes - (this.#waiting.get(reader) ?? 0)
    if (bytes > 0) this.#waiting.set(reader, bytes)
    else this.#waiting.delete(reader)
  }
}
