import { eventWire } from '../../contracts/index.ts'
import type { EventView } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import { type CallsOf, eventsOptions } from '../calls/index.ts'
import { type EventFeed, openFeed } from './event-feed.ts'
import type { LiveParts } from './live.ts'

/** How soon a reader whose stream was cut should come back. */
const RETRY_MS = 1_000
/** How long a reader may take to read the end. */
const CLOSE_MS = 2_000
const encoder = new TextEncoder()

/** The call that answers with server-sent events. */
export function streamCall(live: LiveParts): CallsOf<'stream'>['stream'] {
  return async ({ query }, { caller, lastEventId, disconnect = () => {} }) => {
    const { ticket: _ticket, ...asked } = query
    live.connections.assertCapacity(caller)
    const resumed = lastEventId === undefined ? {} : { after: lastEventId }
    const feed = await openFeed(caller, eventsOptions({ ...asked, ...resumed }), live.reads)
    try {
      return { status: 200, json: '', stream: eventStream(live, caller, feed, disconnect) }
    } catch (thrown) {
      feed.end()
      throw thrown
    }
  }
}

/**
 * Server-sent events. The log is read only as fast as the reader accepts them, so a slow reader costs no memory. It is
 * disconnected in the end: a reader that accepts nothing does not accept the end of the stream either.
 */
function eventStream(
  { connections, clock, heartbeatMs, stallMs, onError }: LiveParts,
  caller: Caller,
  feed: EventFeed,
  disconnect: () => void,
): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  let pending: Promise<EventView | null> | null = null
  let cancelStall = () => {}
  let isOver = false
  const remove = connections.add({ kind: 'sse', caller, end: () => end() })

  const finish = () => {
    if (isOver) return
    isOver = true
    cancelStall()
    feed.end()
    // A read that is pending ends with the feed.
    pending?.catch(() => {})
    remove()
  }

  /** Ends it in order, and disconnects a reader that does not accept the end. */
  const end = () => {
    if (isOver) return
    finish()
    controller?.close()
    clock.setTimer(CLOSE_MS, disconnect)
  }

  const send = (text: string) => {
    controller?.enqueue(encoder.encode(text))
    cancelStall = clock.setTimer(stallMs, () => {
      finish()
      disconnect()
    })
  }

  const cursorLine = () => (feed.cursor === null ? '' : `id: ${feed.cursor}\n`)

  /** The next event, or `quiet` if there was none for one heartbeat. */
  const next = async (): Promise<EventView | null | 'quiet'> => {
    pending ??= feed.next()
    const quiet = Promise.withResolvers<'quiet'>()
    const cancel = clock.setTimer(heartbeatMs, () => quiet.resolve('quiet'))
    try {
      const first = await Promise.race([pending, quiet.promise])
      if (first !== 'quiet') pending = null
      return first
    } finally {
      cancel()
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      start: (opened) => {
        controller = opened
        // With the first cursor: a reader that is cut off before the first event resumes from there.
        send(`retry: ${RETRY_MS}\n${cursorLine()}\n`)
      },
      pull: async () => {
        cancelStall()
        try {
          const event = await next()
          if (isOver) return
          if (event === 'quiet') send(`: quiet\n${cursorLine()}\n`)
          else if (event === null) end()
          else send(frame(event))
        } catch (thrown) {
          if (isOver) return
          onError(thrown)
          end()
        }
      },
      cancel: finish,
    },
    { highWaterMark: 1 },
  )
}

/** An event as one line: line breaks in its JSON can only stand between tokens, where a space means the same. */
function frame(event: EventView): string {
  return `id: ${event.cursor}\nevent: ${event.type}\ndata: ${eventWire(event).replace(/[\r\n]/g, ' ')}\n\n`
}
