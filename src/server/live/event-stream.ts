import { eventWire } from '../../contracts/index.ts'
import type { EventView } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import type { CallsOf } from '../calls/index.ts'
import type { ConnectionLimiter, EventReadLimiter } from '../limits/index.ts'
import { EventFeed, parseTypes } from './event-feed.ts'

/** How soon a reader whose stream was cut should come back. */
const RETRY_MS = 1_000
/** How long a reader may take to read the end. */
const CLOSE_MS = 2_000
const encoder = new TextEncoder()

/** What all streams share. */
export interface StreamsParts {
  readonly connections: ConnectionLimiter
  readonly reads: EventReadLimiter
  readonly clock: Clock
  readonly heartbeatMs: number
  /** A reader that accepts nothing for this long is disconnected. It can resume. */
  readonly stallMs: number
  readonly onError: (thrown: unknown) => void
}

interface EventStreamParts extends StreamsParts {
  readonly caller: Caller
  readonly feed: EventFeed
  /** Closes the connection: a reader that accepts nothing does not accept the end of the stream either. */
  readonly disconnect: () => void
}

/** The call that answers with server-sent events. */
export function streamCall(parts: StreamsParts): CallsOf<'stream'>['stream'] {
  return async ({ query }, { caller, lastEventId, disconnect = () => {} }) => {
    const { after, alarm_id: alarmId, types } = query
    parts.connections.assertCapacity(caller)
    const options = { after: lastEventId ?? after, alarmId, types: parseTypes(types) }
    const feed = await EventFeed.open(caller, options, parts)
    try {
      const source = new EventStream({ ...parts, caller, feed, disconnect })
      return { status: 200, json: '', stream: new ReadableStream(source, { highWaterMark: 1 }) }
    } catch (thrown) {
      feed.end()
      throw thrown
    }
  }
}

/** Server-sent events. The log is read only as fast as the reader accepts them, so a slow reader costs no memory. */
class EventStream {
  readonly #parts: EventStreamParts
  readonly #remove: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #pending: Promise<EventView | null> | null = null
  #cancelStall = () => {}
  #isOver = false

  constructor(parts: EventStreamParts) {
    const { connections, caller } = parts
    this.#parts = parts
    this.#remove = connections.add({ kind: 'sse', caller, end: () => this.#end() })
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
    // With the first cursor: a reader that is cut off before the first event resumes from there.
    this.#send(`retry: ${RETRY_MS}\n${this.#cursorLine()}\n`)
  }

  async pull(): Promise<void> {
    this.#cancelStall()
    try {
      const event = await this.#next()
      if (this.#isOver) return
      if (event === 'quiet') this.#send(`: quiet\n${this.#cursorLine()}\n`)
      else if (event === null) this.#end()
      else this.#send(frame(event))
    } catch (thrown) {
      if (this.#isOver) return
      this.#parts.onError(thrown)
      this.#end()
    }
  }

  cancel(): void {
    this.#finish()
  }

  /** The next event, or `quiet` if there was none for one heartbeat. */
  async #next(): Promise<EventView | null | 'quiet'> {
    const { clock, heartbeatMs, feed } = this.#parts
    this.#pending ??= feed.next()
    const quiet = Promise.withResolvers<'quiet'>()
    const cancel = clock.setTimer(heartbeatMs, () => quiet.resolve('quiet'))
    try {
      const first = await Promise.race([this.#pending, quiet.promise])
      if (first !== 'quiet') this.#pending = null
      return first
    } finally {
      cancel()
    }
  }

  #cursorLine(): string {
    const { cursor } = this.#parts.feed
    return cursor === null ? '' : `id: ${cursor}\n`
  }

  #send(text: string): void {
    const { clock, stallMs } = this.#parts
    this.#controller?.enqueue(encoder.encode(text))
    this.#cancelStall = clock.setTimer(stallMs, () => {
      this.#finish()
      this.#parts.disconnect()
    })
  }

  /** Ends it in order, and disconnects a reader that does not accept the end. */
  #end(): void {
    if (this.#isOver) return
    this.#finish()
    this.#controller?.close()
    this.#parts.clock.setTimer(CLOSE_MS, this.#parts.disconnect)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelStall()
    this.#parts.feed.end()
    // A read that is pending ends with the feed.
    this.#pending?.catch(() => {})
    this.#remove()
  }
}

/** An event as one line: line breaks in its JSON can only stand between tokens, where a space means the same. */
function frame(event: EventView): string {
  return `id: ${event.cursor}\nevent: ${event.type}\ndata: ${eventWire(event).replace(/[\r\n]/g, ' ')}\n\n`
}
