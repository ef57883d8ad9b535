import { eventWire } from '../../contracts/index.ts'
import type { EventView } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import type { CallsOf } from '../calls/index.ts'
import type { ConnectionLimiter, EventReadLimiter, LiveConnection } from '../limits/index.ts'
import { EventFeed, typesOf } from './event-feed.ts'

/** How soon a reader whose stream broke off should come back. */
const RETRY_MS = 1_000
/** How long it may take to read the end. */
const GOODBYE_MS = 2_000
const encoder = new TextEncoder()

/** What all streams share. */
export interface StreamsParts {
  readonly lines: ConnectionLimiter
  readonly pace: EventReadLimiter
  readonly clock: Clock
  readonly heartbeatMs: number
  /** A reader that accepts nothing for this long is disconnected. It can resume. */
  readonly stallMs: number
  readonly onTrouble: (thrown: unknown) => void
}

interface EventStreamParts extends StreamsParts {
  readonly caller: Caller
  readonly feed: EventFeed
  /** Closes the connection: a reader that accepts nothing does not accept the end of the stream either. */
  readonly hangUp: () => void
}

/** The call that answers with server-sent events. */
export function streamCall(parts: StreamsParts): CallsOf<'stream'>['stream'] {
  return async ({ query }, { caller, lastEventId, hangUp = () => {} }) => {
    const { after, alarm_id: alarmId, types } = query
    parts.lines.assertRoom(caller)
    const given = { after: lastEventId ?? after, alarmId, types: typesOf(types) }
    const feed = await EventFeed.open(caller, given, parts)
    try {
      const source = new EventStream({ ...parts, caller, feed, hangUp })
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
  readonly #line: LiveConnection
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
