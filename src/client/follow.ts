import { WakefulError } from '../errors/core.ts'
import type { EventsOptions, EventView } from '../library/index.ts'
import { type EventWire, eventView } from './alarm-view.ts'
import { errorOf } from './error.ts'
import { sleep } from './retry.ts'
import { SseReader } from './sse.ts'
import { HttpTransport } from './transport.ts'

const PAGE = 500
const POLL_MS = 1_000
/** A stream that has said nothing for so long, not even that it lives, is opened again. */
const SILENT_MS_MAX = 60_000
const AGAIN_MS_MIN = 250
const AGAIN_MS_MAX = 5_000
const STREAM = '/v1/events/stream'

interface EventPage {
  readonly items: readonly EventWire[]
  readonly next_cursor: string | null
}

/** Reads the log of a server, and goes on with what is appended later where that is asked. */
export async function* readEvents(link: HttpTransport, options: EventsOptions): AsyncGenerator<EventView> {
  const { signal } = options
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new WakefulError('field.malformed', { expected: 'an AbortSignal' }, { field: 'signal' })
  const both = [signal, link.options.signal].filter((each) => each !== undefined)
  const own = new HttpTransport(link.base, { ...link.options, signal: AbortSignal.any(both) })
  try {
    yield* new Reading(own, options).all()
  } catch (thrown) {
    // An end that was asked for is no failure.
    if (signal?.aborted !== true) throw thrown
  }
}

/** The end of the log as a cursor. */
export async function newestCursor(link: HttpTransport): Promise<string> {
  const page = await link.json<'events', EventPage>('events', { query: { after: 'newest', limit: 1 } })
  return page.next_cursor!
}

/** One reading of the log: where it is, and how it goes on. */
class Reading {
  readonly #link: HttpTransport
  readonly #alarmId: string | undefined
  readonly #isFollowed: boolean
  #cursor: string | undefined
  /** False once the server has said that it has no stream. */
  #mayStream = true
  #failures = 0

  constructor(link: HttpTransport, { after, alarmId, follow = false }: EventsOptions) {
    this.#link = link
    this.#alarmId = alarmId
    this.#isFollowed = follow
    this.#cursor = after
  }

  async *all(): AsyncGenerator<EventView> {
    if (!this.#isFollowed) {
      yield* this.#pages()
      return
    }
    // Asked before the log is read: should that find nothing, everything from here on is still to come.
    const newest = await newestCursor(this.#link)
    if (this.#cursor === 'newest') this.#cursor = newest
    while (!(yield* this.#guarded(() => this.#pages())));
    this.#cursor ??= newest
    for (;;) {
      if (this.#mayStream) yield* this.#guarded(() => this.#stream())
      else {
        await sleep(this.#link.options.pollMs ?? POLL_MS, this.#link.options.signal)
        yield* this.#guarded(() => this.#pages())
      }
    }
  }

  async *#pages(): AsyncGenerator<EventView> {
    for (;;) {
      const { items } = await this.#link.json<'events', EventPage>('events', {
        query: { after: this.#cursor, alarm_id: this.#alarmId, limit: PAGE },
      })
      for (const item of items) {
        yield eventView(item)
        this.#cursor = item.cursor
      }
      this.#failures = 0
      // A page may end before its limit, by what it holds: only an empty one is the end.
      if (items.length === 0) return
    }
  }

  /** A server that is away for a while does not end the reading: it goes on where it was. Whether it was not away. */
  async *#guarded(read: () => AsyncGenerator<EventView>): AsyncGenerator<EventView, boolean> {
    try {
      yield* read()
      return true
    } catch (thrown) {
      this.#link.options.signal?.throwIfAborted()
      const isPassing =
        thrown instanceof WakefulError &&
        (thrown.code === 'store_unavailable' || thrown.code === 'rate_limited')
      if (!isPassing) throw thrown
    }
    this.#failures += 1
    await sleep(Math.min(AGAIN_MS_MAX, AGAIN_MS_MIN * 2 ** this.#failures), this.#link.options.signal)
    return false
  }

  async *#stream(): AsyncGenerator<EventView> {
    const silent = new AbortController()
    const signal = AbortSignal.any([silent.signal, this.#link.options.signal!])
    const cursor = this.#cursor!
    const headers = { accept: 'text/event-stream', 'last-event-id': cursor }
    const query = new URLSearchParams({
      after: cursor,
      ...(this.#alarmId !== undefined && { alarm_id: this.#alarmId }),
    })
    const response = await this.#link.open(`${STREAM}?${query}`, headers, signal)
    try {
      if (!(await this.#isStream(response))) return
      const reader = new SseReader()
      for await (const text of pieces(response.body!, () => silent.abort(), this.#link)) {
        this.#failures = 0
        for (const { data } of reader.push(text)) yield* this.#event(data)
      }
      // It ended in order: a server that closes, or one that asks to be called again.
      await sleep(reader.retryMs ?? AGAIN_MS_MIN, this.#link.options.signal)
    } finally {
      silent.abort()
    }
  }

  async #isStream(response: Response): Promise<boolean> {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (response.ok && isStream && response.body !== null) return true
    const { status } = response
    const text = await response.text()
    if (response.ok || status === 404 || status === 405 || status === 406) {
      this.#mayStream = false
      return false
    }
    throw errorOf(status, text, this.#link.base)
  }

  *#event(data: string): Generator<EventView> {
    const wire = this.#link.read<Partial<EventWire>>(data)
    // What is no event of the log is a sign of life, or comes from a newer server.
    if (typeof wire.cursor !== 'string' || wire.data === undefined) return
    const event = eventView(wire as EventWire)
    if (this.#alarmId === undefined || event.alarmId === this.#alarmId) yield event
    this.#cursor = event.cursor
  }
}

/** The text of a stream as it comes; a break is no answer, and so is a silence that lasts. */
async function* pieces(
  body: ReadableStream<Uint8Array>,
  onSilence: () => void,
  link: HttpTransport,
): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const timer = setTimeout(onSilence, SILENT_MS_MAX)
    let read: Awaited<ReturnType<typeof reader.read>>
    try {
      read = await reader.read()
    } catch (cause) {
      link.options.signal?.throwIfAborted()
      throw new WakefulError('client.stream_ended', { url: link.base }, { cause })
    } finally {
      clearTimeout(timer)
    }
    if (read.done) return
    yield decoder.decode(read.value, { stream: true })
  }
}
