import { type AlarmEventType, EVENT_TYPES } from '../../alarm/index.ts'
import { display, WakefulError } from '../../error.ts'
import { type EventView, wakefulPrefix } from '../../library/index.ts'
import { closest } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import type { EventReadLimiter } from '../limits/index.ts'

/** Which events are followed. */
export interface EventFeedOptions {
  readonly after?: string | undefined
  readonly alarmId?: string | undefined
  readonly types?: ReadonlySet<string> | undefined
}

/** The event log from a cursor on. It is read only as fast as the events are consumed. */
export interface EventFeed {
  /** Every event up to here was consumed, or is not of a wanted type. */
  readonly cursor: string | null
  /** The next event; null when the feed has ended. */
  next(): Promise<EventView | null>
  /** Ends it, also while `next` waits. */
  end(): void
}

/**
 * Follows the event log from a cursor on. Throws on one that is invalid or expired, before anything is answered. `onEnded`
 * is called when it ends, perhaps more than once.
 */
export async function openFeed(
  caller: Caller,
  { after = 'newest', alarmId, types }: EventFeedOptions,
  reads: EventReadLimiter,
  onEnded: () => void = () => {},
): Promise<EventFeed> {
  const { alarms } = caller
  const abort = new AbortController()
  const filter = { signal: abort.signal, ...(alarmId !== undefined && { alarmId }) }
  const from = after === 'newest' ? await alarms.newest() : after === 'oldest' ? undefined : after
  const past = alarms.events({ ...filter, ...(from !== undefined && { after: from }) })
  const first = await reads.begin(caller, () => past.next())
  const passed = reads.reader(caller)
  let cursor = from ?? null
  const events = follow()
  return {
    get cursor() {
      return cursor
    },
    next: async () => (await events.next()).value ?? null,
    end: () => {
      abort.abort()
      onEnded()
      // Also where the generator is suspended between two events.
      events.return(undefined).catch(() => {})
    },
  }

  /** The events that are there, then those that come. */
  async function* follow(): AsyncGenerator<EventView, undefined> {
    if (first.done !== true) {
      yield* wanted(first.value)
      for await (const event of past) yield* wanted(event)
    }
    const next = cursor === null ? {} : { after: cursor }
    for await (const event of alarms.events({ ...filter, ...next, follow: true })) yield* wanted(event)
  }

  async function* wanted(event: EventView): AsyncGenerator<EventView> {
    if (types === undefined || types.has(event.type)) yield event
    await passed(event.dataJson.length)
    // Not before: a reader that resumes from this cursor has received the event.
    cursor = event.cursor
  }
}

/** The types in a list, or in one text with commas. Rejects types that no event can have. */
export function parseTypes(input: string | readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (input === undefined) return undefined
  const list = typeof input === 'string' ? input.split(',') : input
  const types = new Set(list.map((type) => type.trim()).filter((type) => type !== ''))
  if (types.size === 0) throw new WakefulError('field.empty', {}, { field: 'types' })
  for (const type of types) assertKnownType(type)
  return types
}

/** What operators do is logged under types of this prefix (`admin.key_created`), which are not listed. */
const UNLISTED_PREFIX = 'admin'

function assertKnownType(type: string): void {
  const prefix = wakefulPrefix(type)
  if (prefix === null || prefix === UNLISTED_PREFIX || EVENT_TYPES.includes(type as AlarmEventType)) return
  const near = closest(type, EVENT_TYPES)
  throw new WakefulError(
    'event.type_unknown',
    { value: display(type.slice(0, 60)), near, known: EVENT_TYPES },
    { field: 'types' },
  )
}
