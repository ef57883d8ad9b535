import { WakefulError } from '../errors/core.ts'
import { type AlarmWire, alarmView } from './alarm-view.ts'
import type { ConnectOptions, RemoteAlarms } from './api.ts'
import { remoteCalendars } from './calendars.ts'
import { newestCursor, readEvents } from './follow.ts'
import { remoteDefaultTarget, remoteInbox, remoteWebhooks } from './inbox.ts'
import { alarmReads } from './reads.ts'
import { HttpTransport } from './transport.ts'
import { alarmWrites } from './writes.ts'

const WHOLE_NUMBERS = { timeoutMs: 1, retries: 0, pollMs: 1 } as const

/** The alarms of a server. It sends no request until the first call. */
export function connect(url: string, options: ConnectOptions = {}): RemoteAlarms {
  for (const [name, min] of Object.entries(WHOLE_NUMBERS)) {
    const value = options[name as keyof typeof WHOLE_NUMBERS]
    if (value === undefined || (Number.isInteger(value) && value >= min)) continue
    const params = { min, max: null, value: String(value) }
    throw new WakefulError('field.not_whole_number', params, { field: name })
  }
  return remoteAlarms(url, options)
}

function remoteAlarms(url: string, options: ConnectOptions): RemoteAlarms {
  const transport = new HttpTransport(url, options)
  const { key, tenant = key === undefined ? 'default' : '', owner = '' } = options
  const view = (wire: AlarmWire) => alarmView(wire, { tenant, owner })
  const others = (more: ConnectOptions) => remoteAlarms(transport.base, { ...options, ...more })
  return {
    url: transport.base,
    with: others,
    forTenant: (tenant, owner = '') => others({ tenant, owner }),
    ...alarmWrites(transport, view),
    ...alarmReads(transport, view),
    events: (options = {}) => readEvents(transport, options),
    newest: () => newestCursor(transport),
    inbox: remoteInbox(transport),
    defaultTarget: remoteDefaultTarget(transport, 'Owner'),
    tenantDefaultTarget: remoteDefaultTarget(transport, 'Tenant'),
    webhooks: remoteWebhooks(transport),
    calendars: remoteCalendars(transport),
  }
}
