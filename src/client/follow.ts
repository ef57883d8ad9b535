import { ROUTES } from '../contracts/routes.ts'
import { WakefulError } from '../errors/core.ts'
import type { EventsOptions, EventView } from '../library/index.ts'
import { type EventWire, eventView } from './alarm-view.ts'
import { sinceText } from './body.ts'
import { errorOf } from './error.ts'
import { sleep } from './retry.ts'
import { SseReader } from './sse.ts'
import type { HttpTransport } from './transport.ts'

const PAGE = 500
const POLL_MS = 1_000
/** A stream without any text for this long, not even a keep-alive comment, is opened again. */
const SILENT_MS_MAX = 60_000
const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 5_000
const [, STREAM] = ROUTES.stream.split(' ')

/** Whose log or alarms are read, where it is not one owner's. */
export type Across = { readonly owner?: '*'; readonly tenant?: '*' }

/** Reads the log of a server, and follows it with `follow`. */
export async function* readEvents(
  transport: HttpTransport,
  options: EventsOptions,
  across: Across = {},
): AsyncGenerator<EventView> {
  const { signal, follow = false, until } = options
  if (follow && until !== undefined) throw new WakefulError('event.follow_until', {}, { field: 'until' })
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new WakefulError('field.malformed', { expected: 'an AbortSignal' }, { field: 'signal' })
  try {
    yield* new Reading(transport.withSignal(signal), options, across).all()
  } catch (thrown) {
    // An abort by the caller is not an error.
    if (signal?.aborted !== true) throw thrown
  }
}

/** The cursor of the end of the log. */
export async function newestCursor(transport: HttpTransport, across: Across = {}): Promise<string> {
  const page = await transport.json('events', { query: { ...across, after: 'newest', limit: 1 } })
  return page.next_cursor!
}

/** One reader of the log and its position. */
class Reading {
  readonly #transport: HttpTransport
  readonly #across: Across
  /** The filters, by their names in the query. */
  readonly #filters: Across & Readonly<Record<string, string | undefined>>
  readonly #isFollowed: boolean
  #cursor: string | undefined
  /** False if the server has no stream. */
  #mayStream = true
  #failures = 0

  constructor(
    transport: HttpTransport,
    { after, alarmId, type, origin, subject, correlationId, since, until, follow = false }: EventsOptions,
    across: Across,
  ) {
    this.#transport = transport
    this.#across = across
    this.#filters = {
      alarm_id: alarmId,
      type: typeof type === 'string' ? type : type?.join(','),
      origin,
      subject,
      correlation_id: correlationId,
      since: since && sinceText(since),
      until: until && sinceText(until, 'until'),
      ...across,
    }
    this.#isFollowed = follow
    this.#cursor = after
  }

  async *all(): AsyncGenerator<EventView> {
    if (!this.#isFollowed) {
      yield* this.#pages()
      return
    }
    // Read before the log: if the log has no events yet, everything after this cursor is new.
    const newest = await newestCursor(this.#transport, this.#across)
    if (this.#cursor === 'newest') this.#cursor = newest
    while (!(yield* this.#guarded(() => this.#pages())));
    this.#cursor ??= newest
    for (;;) {
      if (this.#mayStream) yield* this.#guarded(() => this.#stream())
      else {
        await sleep(this.#transport.options.pollMs ?? POLL_MS, this.#transport.options.signal)
        yield* this.#guarded(() => this.#pages())
      }
    }
  }

  async *#pages(): AsyncGenerator<EventView> {
    for (;;) {
      const { items, next_cursor: next } = await this.#transport.json('events', {
        query: { ...this.#filters, after: this.#cursor, limit: PAGE },
      })
      for (const item of items) {
        yield eventView(item)
        this.#cursor = item.cursor
      }
      this.#failures = 0
      // A page with large events, or of a filter that matches little, ends before its limit: only the same cursor is the end.
      if (next === null || (next === this.#cursor && items.length === 0)) return
      this.#cursor = next
    }
  }

  /** Runs one step, and waits if the server is unavailable. Returns whether the step succeeded. */
  async *#guarded(read: () => AsyncGenerator<EventView>): AsyncGenerator<EventView, boolean> {
    try {
      yield* read()
      return true
    } catch (thrown) {
      this.#transport.options.signal?.throwIfAborted()
      const isPassing =
        thrown instanceof WakefulError &&
        (thrown.code === 'store_unavailable' || thrown.code === 'rate_limited')
      if (!isPassing) throw thrown
    }
    this.#failures += 1
    await sleep(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.#failures), this.#transport.options.signal)
    return false
  }

  async *#stream(): AsyncGenerator<EventView> {
    const silent = new AbortController()
    const cursor = this.#cursor!
    const headers = { accept: 'text/event-stream', 'last-event-id': cursor }
    const filters = Object.entries(this.#filters).filter(
      (each): each is [string, string] => each[1] !== undefined,
    )
    const query = new URLSearchParams([['after', cursor], ...filters])
    const response = await this.#transport.open(`${STREAM}?${query}`, headers, silent.signal)
    try {
      if (!(await this.#isStream(response))) return
      const reader = new SseReader()
      for await (const text of pieces(response.body!, () => silent.abort(), this.#transport)) {
        this.#failures = 0
        for (const data of reader.push(text)) yield* this.#event(data)
      }
      // A regular end: the server is shutting down, or asks to reconnect.
      await sleep(reader.retryMs ?? RETRY_MS_MIN, this.#transport.options.signal)
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
    throw errorOf(status, text, this.#transport.base)
  }

  *#event(data: string): Generator<EventView> {
    const wire = this.#transport.read<Partial<EventWire>>(data)
    // Anything else is a keep-alive, or comes from a newer server.
    if (typeof wire.cursor !== 'string' || wire.data === undefined) return
    const event = eventView(wire as EventWire)
    const { alarm_id: alarmId } = this.#filters
    if (alarmId === undefined || event.alarmId === alarmId) yield event
    this.#cursor = event.cursor
  }
}

/** The text of a stream. A broken connection and a long silence are errors. */
async function* pieces(
  body: ReadableStream<Uint8Array>,
  onSilence: () => void,
  transport: HttpTransport,
): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const timer = setTimeout(onSilence, SILENT_MS_MAX)
    let read: Awaited<ReturnType<typeof reader.read>>
    try {
      read = await reader.read()
    } catch (cause) {
      transport.options.signal?.throwIfAborted()
      throw new WakefulError('client.stream_ended', { url: transport.base }, { cause })
    } finally {
      clearTimeout(timer)
    }
    if (read.done) return
    yield decoder.decode(read.value, { stream: true })
  }
}
