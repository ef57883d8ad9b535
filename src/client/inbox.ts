import type { DefaultTarget, Inbox, TenantSecret, WakeView, Webhooks } from '../library/index.ts'
import { parseDuration } from '../time/durations/index.ts'
import { bodyText } from './body.ts'
import { orNull } from './error.ts'
import type { HttpTransport, Wire } from './transport.ts'

/** The inbox of an owner on a server. */
export function remoteInbox(transport: HttpTransport): Inbox {
  return {
    take: async ({ wait, hold, limit, signal } = {}) => {
      const { items } = await transport.withSignal(signal).json('inbox', {
        query: { wait, hold, limit },
        ...(wait !== undefined && { waitMs: parseDuration(wait) }),
      })
      return items.map(wakeView)
    },
    ack: async (occurrenceId, report = {}) => {
      await transport.call('ack', { params: { occurrence_id: occurrenceId }, body: bodyText({ ...report }) })
    },
  }
}

/** The default target of an owner or a tenant on a server. */
export function remoteDefaultTarget(transport: HttpTransport, of: 'Owner' | 'Tenant'): DefaultTarget {
  return {
    get: async () => (await orNull(() => transport.json(`get${of}Target`)))?.target ?? null,
    put: async (target) => (await transport.json(`put${of}Target`, { body: bodyText({ target }) })).target,
    remove: async () => (await transport.json(`remove${of}Target`)).removed,
  }
}

/** The webhook secrets of a tenant on a server. */
export function remoteWebhooks(transport: HttpTransport): Webhooks {
  const read = ({ former_until, ...secrets }: Wire<'webhookSecret'>): TenantSecret => ({
    ...secrets,
    formerUntil: former_until === null ? null : new Date(former_until),
  })
  return {
    secret: async () => read(await transport.json('webhookSecret')),
    rotateSecret: async () => read(await transport.json('rotateWebhookSecret')),
  }
}

/** A wake as the library returns it. All fields of the wire but `tries` are its body. */
function wakeView({ tries, ...fields }: Wire<'inbox'>['items'][number]): WakeView {
  const bodyJson = bodyText(fields)
  return {
    occurrenceId: fields.occurrence_id,
    alarmId: fields.alarm_id,
    // The wire does not have the time of arrival, which is just after the fire.
    arrivedAt: new Date(fields.fired_at),
    tries,
    body: JSON.parse(bodyJson) as Record<string, unknown>,
    bodyJson,
  }
}
