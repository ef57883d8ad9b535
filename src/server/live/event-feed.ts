import { type AlarmEventType, EVENT_TYPES } from '../../alarm/index.ts'
import { type EventView, wakefulPrefix } from '../../library/index.ts'
import { closest } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import { InvalidRequest } from '../http/index.ts'
import type { EventReadLimiter } from '../limits/index.ts'

/** Which events are followed. */
export interface EventFeedOptions {
  readonly after?: string | undefined
  readonly alarmId?: string | undefined
  readonly types?: ReadonlySet<string> | undefined
}

/** What a feed is read with. */
export interface EventFeedParts {
  readonly pace: EventReadLimiter
  /** Called when it is ended, perhaps more than once. */
  readonly onEnded?: () => void
}

/** Events of the log as it grows, from a place on; read only as fast as they are taken. */
export class EventFeed {
  /** Everything up to here was handed out, and asked on for, or is not of the wanted types. */
  cursor: string | null
  readonly #events: AsyncGenerator<EventView>
  readonly #abort: AbortController
  readonly #onEnded: () => void

  private constructor(
    cursor: string | null,
    events: AsyncGenerator<EventView>,
    abort: AbortController,
    onEnded: () => void,
  ) {
    this.cursor = cursor
    this.#events = events
    this.#abort = abort
    this.#onEnded = onEnded
  }

  /** Begins at a place, and refuses one that is none, or too old, before anything is answered. */
  static async open(
    caller: Caller,
    { after = 'newest', alarmId, types }: EventFeedOptions,
    { pace, onEnded = () => {} }: EventFeedParts,
  ): Promise<EventFeed> {
    const { alarms } = caller
    const abort = new AbortController()
    const about = { signal: abort.signal, ...(alarmId !== undefined && { alarmId }) }
    const from = after === 'newest' ? await alarms.newest() : after === 'oldest' ? undefined : after
    const past = alarms.events({ ...about, ...(from !== undefined && { after: from }) })
    const first = await pace.begin(caller, () => past.next())
    const step = pace.walker(caller)
    const feed: EventFeed = new EventFeed(from ?? null, follow(), abort, onEnded)
    return feed

    /** What is there already; then what comes. */
    async function* follow(): AsyncGenerator<EventView> {
      if (first.done !== true) {
        yield* wanted(first.value)
        for await (const event of past) yield* wanted(event)
      }
      const next = feed.cursor === null ? {} : { after: feed.cursor }
      for await (const event of alarms.events({ ...about, ...next, follow: true })) yield* wanted(event)
    }

    async function* wanted(event: EventView): AsyncGenerator<EventView> {
      if (types === undefined || types.has(event.type)) yield event
      await step(event.dataJson.length)
      // Only now: whoever resumes from here has had it.
      feed.cursor = event.cursor
    }
  }

  /** The next event; null once nothing more will come. */
  async next(): Promise<EventView | null> {
    const { done, value } = await this.#events.next()
    return done === true ? null : value
  }

  /** Ends it, also while somebody waits for the next. */
  end(): void {
    this.#abort.abort()
    this.#onEnded()
    // Ends what it holds, too, where it stands between two events.
    this.#events.return(undefined).catch(() => {})
  }
}

/** Types as they are given: a list, or one text with commas. Refuses those that nothing will ever have. */
export function typesOf(given: string | readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined
  const list = typeof given === 'string' ? given.split(',') : given
  const types = new Set(list.map((type) => type.trim()).filter((type) => type !== ''))
  if (types.size === 0)
    throw new InvalidRequest([{ field: 'types', detail: 'names no type: leave it out for all' }])
  for (const type of types) assertMayCome(type)
  return types
}

/** What operators do is told under names of its own (`admin.key_created`), which are not listed anywhere. */
const UNLISTED = 'admin'

function assertMayCome(type: string): void {
  const prefix = wakefulPrefix(type)
  if (prefix === null || prefix === UNLISTED || EVENT_TYPES.includes(type as AlarmEventType)) return
  const near = closest(type, EVENT_TYPES)
  const meant = near === null ? '' : ` (did you mean ${near}?)`
  const detail = `no event has the type ${JSON.stringify(type.slice(0, 60))}${meant}; Wakeful’s own are ${EVENT_TYPES.join(', ')}`
  throw new InvalidRequest([{ field: 'types', detail }])
}
