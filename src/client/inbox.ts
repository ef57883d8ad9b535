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

/** The inbox of an owner on a server. */
export function remoteInbox(transport: HttpTransport): Inbox {
  return {
    async take({ wait, hold, limit, signal }: TakeOptions = {}): Promise<WakeView[]> {
      const either = [signal, transport.options.signal].filter((each) => each !== undefined)
      const own =
        either.length === 0
          ? transport
          : new HttpTransport(transport.base, { ...transport.options, signal: AbortSignal.any(either) })
      const { items } = await own.json<'inbox', { items: WakeWire[] }>('inbox', {
        query: { wait, hold, limit },
        ...(wait !== undefined && { waitMs: parseDuration(wait) }),
      })
      return items.map(wakeView)
    },

    async ack(occurrenceId: string, report: WakeReport = {}): Promise<void> {
      await transport.call('ack', { params: { occurrence_id: occurrenceId }, body: bodyText({ ...report }) })
    },
  }
}

/** The default target of an owner on a server. */
export function remoteDefaultTarget(transport: HttpTransport): DefaultTarget {
  return {
    async get(): Promise<TargetSpec | null> {
      const found = await orNull(() =>
        transport.json<'getOwnerTarget', { target: TargetSpec }>('getOwnerTarget'),
      )
      return found === null ? null : found.target
    },

    async put(target: TargetSpec): Promise<TargetSpec> {
      const body = bodyText({ target })
      return (await transport.json<'putOwnerTarget', { target: TargetSpec }>('putOwnerTarget', { body }))
        .target
    },

    async remove(): Promise<boolean> {
      return (await transport.json<'removeOwnerTarget', { removed: boolean }>('removeOwnerTarget')).removed
    },
  }
}

/** The webhook secrets of a tenant on a server. */
export function remoteWebhooks(transport: HttpTransport): Webhooks {
  const read = ({ secret, former, former_until }: SecretWire): TenantSecret => ({
    secret,
    former,
    formerUntil: former_until === null ? null : new Date(former_until),
  })
  return {
    secret: async () => read(await transport.json('webhookSecret')),
    rotateSecret: async () => read(await transport.json('rotateWebhookSecret')),
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

/** A wake as the library returns it. All fields of the wire but `tries` are its body. */
function wakeView({ tries, ...fields }: WakeWire): WakeView {
  const bodyJson = bodyText(fields)
  return {
    occurrenceId: fields.occurrence_id as string,
    alarmId: fields.alarm_id as string,
    // The wire does not have the time of arrival, which is just after the fire.
    arrivedAt: new Date(fields.fired_at as string),
    tries,
    body: JSON.parse(bodyJson) as Record<string, unknown>,
    bodyJson,
  }
}
