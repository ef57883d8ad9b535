/** The routes of the calls on one alarm, which they name by its id. */
const ONE_ALARM = {
  get: 'GET /v1/alarms/{id}',
  edit: 'PATCH /v1/alarms/{id}',
  cancel: 'DELETE /v1/alarms/{id}',
  pause: 'POST /v1/alarms/{id}/pause',
  resume: 'POST /v1/alarms/{id}/resume',
  skip: 'POST /v1/alarms/{id}/skip',
  fire: 'POST /v1/alarms/{id}/fire',
  retry: 'POST /v1/alarms/{id}/retry',
  complete: 'POST /v1/alarms/{id}/complete',
  fail: 'POST /v1/alarms/{id}/fail',
  why: 'GET /v1/alarms/{id}/why',
} as const

/** A call on one alarm. */
export type OneAlarmCall = keyof typeof ONE_ALARM

/** The same call on an alarm that is named by its key: `pauseByKey`. */
export type ByKey<N extends OneAlarmCall> = `${N}ByKey`

/** The calls on one alarm. */
export const ONE_ALARM_CALLS = Object.keys(ONE_ALARM) as readonly OneAlarmCall[]

/** The name of the same call by key. */
export function byKey<N extends OneAlarmCall>(name: N): ByKey<N> {
  return `${name}ByKey`
}

const ONE_ALARM_BY_KEY = Object.fromEntries(
  ONE_ALARM_CALLS.map((name) => [byKey(name), ONE_ALARM[name].replace('{id}', 'by-key/{key}')]),
) as { readonly [N in OneAlarmCall as ByKey<N>]: string }

/** The route of every call. It stands apart from the schemas because the client loads it, and browsers need no zod. */
export const ROUTES = {
  ...ONE_ALARM,
  ...ONE_ALARM_BY_KEY,
  set: 'POST /v1/alarms',
  setMany: 'POST /v1/alarms/batch',
  setByKey: 'PUT /v1/alarms/by-key/{key}',
  list: 'GET /v1/alarms',
  act: 'POST /v1/alarms/actions',
  removeSubject: 'DELETE /v1/subjects/{subject}',
  reset: 'POST /v1/reset',
  preview: 'POST /v1/preview',
  history: 'GET /v1/history',
  stats: 'GET /v1/stats',
  failed: 'GET /v1/failed',
  events: 'GET /v1/events',
  append: 'POST /v1/events',
  stream: 'GET /v1/events/stream',
  createTicket: 'POST /v1/tickets',
  getCalendarFeed: 'GET /v1/calendar.ics',
  createCalendarFeed: 'POST /v1/calendar',
  removeCalendarFeed: 'DELETE /v1/calendar',
  listCalendars: 'GET /v1/calendars',
  getCalendar: 'GET /v1/calendars/{name}',
  putCalendar: 'PUT /v1/calendars/{name}',
  addToCalendar: 'PATCH /v1/calendars/{name}',
  removeCalendar: 'DELETE /v1/calendars/{name}',
  inbox: 'GET /v1/inbox',
  ack: 'POST /v1/inbox/{occurrence_id}/ack',
  getOwnerTarget: 'GET /v1/owner/target',
  putOwnerTarget: 'PUT /v1/owner/target',
  removeOwnerTarget: 'DELETE /v1/owner/target',
  getTenantTarget: 'GET /v1/tenant/target',
  putTenantTarget: 'PUT /v1/tenant/target',
  removeTenantTarget: 'DELETE /v1/tenant/target',
  createKey: 'POST /v1/keys',
  listKeys: 'GET /v1/keys',
  rotateKey: 'POST /v1/keys/{id}/rotate',
  revokeKey: 'DELETE /v1/keys/{id}',
  listTenants: 'GET /v1/tenants',
  getTenant: 'GET /v1/tenants/{tenant}',
  putTenant: 'PUT /v1/tenants/{tenant}',
  pauseTenant: 'POST /v1/tenants/{tenant}/pause',
  resumeTenant: 'POST /v1/tenants/{tenant}/resume',
  webhookSecret: 'GET /v1/webhooks/secret',
  rotateWebhookSecret: 'POST /v1/webhooks/secret/rotate',
  listPausedTargets: 'GET /v1/targets/held',
  pauseTarget: 'POST /v1/targets/pause',
  resumeTarget: 'POST /v1/targets/resume',
} as const

/** The name of a call. */
export type OperationName = keyof typeof ROUTES
