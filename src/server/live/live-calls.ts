import { type OperationName, wireText } from '../../contracts/index.ts'
import type { Clock } from '../../time/index.ts'
import type { TicketStore } from '../auth/ticket-store.ts'
import type { CallsOf } from '../calls/call.ts'
import type { Lines } from '../limits/connection-limiter.ts'
import type { Pace } from '../limits/event-read-limiter.ts'
import { eventStream } from './event-stream.ts'
import { Feed, typesOf } from './feed.ts'

/** What those who stay connected are served with. */
export interface LiveParts {
  readonly tickets: TicketStore
  readonly lines: Lines
  readonly clock: Clock
  readonly heartbeatMs: number
  /** How long a reader may take nothing. */
  readonly stallMs: number
  readonly onTrouble: (thrown: unknown) => void
  readonly pace: Pace
}

/** The calls of those who stay connected. */
export function liveCalls({ tickets, ...live }: LiveParts) {
  return {
    createTicket: async (_input, { caller }) => ({
      status: 201,
      json: wireText(await tickets.issue(caller)),
    }),

    stream: async ({ query }, { caller, lastEventId, hangUp = () => {} }) => {
      const { after, alarm_id: alarmId, types } = query
      live.lines.assertRoom(caller)
      const given = { after: lastEventId ?? after, alarmId, types: typesOf(types) }
      const feed = await Feed.open(caller, given, live)
      try {
        return { status: 200, json: '', stream: eventStream({ ...live, caller, feed, hangUp }) }
      } catch (thrown) {
        feed.end()
        throw thrown
      }
    },
  } satisfies Partial<CallsOf<OperationName>>
}
