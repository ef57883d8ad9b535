import type { TargetSpec } from '../alarm/index.ts'
import type {
  DefaultTarget,
  Inbox,
  TakeOptions,
  TenantSecret,
  WakeReport,
  WakeView,
  Webhooks,
} from '../library/index.ts'
import { parseDuration } from '../time/durations/index.ts'
import { bodyText } from './body.ts'
import { orNull } from './error.ts'
import { HttpTransport } from './transport.ts'

/** The wakes of an owner whose alarms go to the inbox of a server. */
export function remoteInbox(link: HttpTransport): Inbox {
  return {
    async take({ wait, hold, limit, signal }: TakeOptions = {}): Promise<WakeView[]> {
      const either = [signal, link.options.signal].filter((each) => each !== undefined)
      const own =
        either.length === 0
          ? link
          : new HttpTransport(link.base, { ...link.options, signal: AbortSignal.any(either) })
      const { items } = await own.json<'inbox', { items: WakeWire[] }>('inbox', {
        query: { wait, hold, limit },
        ...(wait !== undefined && { waitMs: parseDuration(wait) }),
      })
      return items.map(wakeView)
    },

    async ack(occurrenceId: string, report: WakeReport = {}): Promise<void> {
      await link.call('ack', { params: { occurrence_id: occurrenceId }, body: bodyText({ ...report }) })
    },
  }
}

/** Where an owner's alarms go that name no target, on a server. */
export function remoteDefaultTarget(link: HttpTransport): DefaultTarget {
  return {
    async get(): Promise<TargetSpec | null> {
      const found = await orNull(() => link.json<'getOwnerTarget', { target: TargetSpec }>('getOwnerTarget'))
      return found === null ? null : found.target
    },

    async put(target: TargetSpec): Promise<TargetSpec> {
      const body = bodyText({ target })
      return (await link.json<'putOwnerTarget', { target: TargetSpec }>('putOwnerTarget', { body })).target
    },

    async remove(): Promise<boolean> {
      return (await link.json<'removeOwnerTarget', { removed: boolean }>('removeOwnerTarget')).removed
    },
  }
}

/** A tenant's webhooks, on a server. */
export function remoteWebhooks(link: HttpTransport): Webhooks {
  const read = ({ secret, former, former_until }: SecretWire): TenantSecret => ({
    secret,
    former,
    formerUntil: former_until === null ? null : new Date(former_until),
  })
  return {
    secret: async () => read(await link.json('webhookSecret')),
    rotateSecret: async () => read(await link.json('rotateWebhookSecret')),
  }
}

interface SecretWire {
  readonly secret: string
  readonly former: string | null
  readonly former_until: string | null
}

interface WakeWire extends Record<string, unknown> {
  readonly alarm_id: string
  readonly occurrence_id: string
  readonly fired_at: string
  readonly tries: number
}

/** The body as it was written: the server adds how often it was handed out, and nothing else. */
function wakeView({ tries, ...fields }: WakeWire): WakeView {
  const bodyJson = bodyText(fields)
  return {
    occurrenceId: fields.occurrence_id as string,
    alarmId: fields.alarm_id as string,
    // When it was laid there is not on the wire: it was fired a moment before.
    arrivedAt: new Date(fields.fired_at as string),
    tries,
    body: JSON.parse(bodyJson) as Record<string, unknown>,
    bodyJson,
  }
}
