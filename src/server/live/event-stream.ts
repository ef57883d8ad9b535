import { eventWire } from '../../contracts/index.ts'
import type { EventView } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Caller } from '../auth/caller.ts'
import type { Line, Lines } from '../limits/connection-limiter.ts'
import type { Feed } from './feed.ts'

/** How soon a reader whose stream broke off should come back. */
const RETRY_MS = 1_000
/** How long it may take to read the end. */
const GOODBYE_MS = 2_000
const encoder = new TextEncoder()

/** What a stream is made of. */
export interface EventStreamParts {
  readonly lines: Lines
  readonly clock: Clock
  readonly caller: Caller
  readonly feed: Feed
  readonly heartbeatMs: number
  /** A reader who takes nothing for so long is hung up on: it can resume. */
  readonly stallMs: number
  /** Cuts the connection: who takes nothing does not take the end either. */
  readonly hangUp: () => void
  readonly onTrouble: (thrown: unknown) => void
}

/** Server-sent events: the log is read only as fast as the reader takes them, so that a slow one costs no memory. */
export function eventStream(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const source = new EventStream(parts)
  return new ReadableStream(source, { highWaterMark: 1 })
}

class EventStream {
  readonly #parts: EventStreamParts
  readonly #line: Line
  readonly #leave: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #coming: Promise<EventView | null> | null = null
  #cancelStall = () => {}
  #isOver = false

  constructor(parts: EventStreamParts) {
    this.#parts = parts
    this.#line = { kind: 'sse', caller: parts.caller, end: () => this.#end() }
    this.#leave = parts.lines.enter(this.#line)
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
    // Where it begins: whoever is cut off before the first event resumes from there.
    this.#send(`retry: ${RETRY_MS}\n${this.#place()}\n`)
  }

  async pull(): Promise<void> {
    this.#cancelStall()
    try {
      const event = await this.#next()
      if (this.#isOver) return
      if (event === 'quiet') this.#send(`: quiet\n${this.#place()}\n`)
      else if (event === null) this.#end()
      else this.#send(frame(event))
    } catch (thrown) {
      if (this.#isOver) return
      this.#parts.onTrouble(thrown)
      this.#end()
    }
  }

  cancel(): void {
    this.#finish()
  }

  /** The next event; where none comes for a while, a sign of life. */
  async #next(): Promise<EventView | null | 'quiet'> {
    const { clock, heartbeatMs, feed } = this.#parts
    this.#coming ??= feed.next()
    const quiet = Promise.withResolvers<'quiet'>()
    const cancel = clock.setTimer(heartbeatMs, () => quiet.resolve('quiet'))
    try {
      const first = await Promise.race([this.#coming, quiet.promise])
      if (first !== 'quiet') this.#coming = null
      return first
    } finally {
      cancel()
    }
  }

  #place(): string {
    const { cursor } = this.#parts.feed
    return cursor === null ? '' : `id: ${cursor}\n`
  }

  #send(text: string): void {
    const { clock, stallMs } = this.#parts
    this.#controller?.enqueue(encoder.encode(text))
    this.#cancelStall = clock.setTimer(stallMs, () => {
      this.#finish()
      this.#parts.hangUp()
    })
  }

  /** Ends it in order; a reader who does not take the end is cut off. */
  #end(): void {
    if (this.#isOver) return
    this.#finish()
    this.#controller?.close()
    this.#parts.clock.setTimer(GOODBYE_MS, this.#parts.hangUp)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelStall()
    this.#parts.feed.end()
    // What is still awaited ends with the feed, and concerns nobody.
    this.#coming?.catch(() => {})
    this.#leave()
  }
}

/** An event as it is sent, on one line: line breaks in JSON stand between its parts, where a space is as good. */
function frame(event: EventView): string {
  return `id: ${event.cursor}\nevent: ${event.type}\ndata: ${eventWire(event).replace(/[\r\n]/g, ' ')}\n\n`
}
