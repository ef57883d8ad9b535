import {
  type ByKey,
  byKey,
  ONE_ALARM_CALLS,
  type OneAlarmCall,
  type OperationName,
} from '../../../src/contracts/index.ts'

/** Ids of an owner's things, with which others might try to access them. */
export interface Ids {
  readonly alarm: string
  readonly occurrence: string
  readonly key: string
  readonly idempotencyKey: string
  readonly subject: string
  readonly label: string
  readonly conversation: string
  readonly correlation: string
  readonly target: string
  readonly keyId: string
  readonly tenant: string
  readonly listCursor: string
  readonly eventCursor: string
  readonly ticket: string
  readonly token: string
  /** A calendar of days off. */
  readonly calendar: string
}

/** A call that tries to access what these ids name. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
}

const EVENT = { event: true }
const NEW = { fire_at: '2040-01-01T00:00:00Z', target: EVENT }
const byId = ({ alarm }: Ids): Ask => ({ params: { id: alarm } })
const byKeyId = ({ keyId }: Ids): Ask => ({ params: { id: keyId } })
const byName = ({ calendar }: Ids): Ask => ({ params: { name: calendar } })
const byTenant = ({ tenant }: Ids): Ask => ({ params: { tenant } })
const filter = ({ subject, label, conversation, correlation, target }: Ids) => ({
  subject,
  label,
  conversation_id: conversation,
  correlation_id: correlation,
  target,
})

type Cases<N extends OperationName> = Readonly<Record<N, (ids: Ids) => Ask>>

const BY_ID: Cases<Exclude<OperationName, ByKey<OneAlarmCall>>> = {
  set: ({ key, idempotencyKey }) => ({ body: { ...NEW, key, idempotency_key: idempotencyKey } }),
  setMany: ({ key, idempotencyKey }) => ({
    body: {
      items: [
        { ...NEW, key },
        { ...NEW, idempotency_key: idempotencyKey },
      ],
    },
  }),
  setByKey: ({ key }) => ({ params: { key }, body: NEW }),
  list: (ids) => ({ query: { ...filter(ids), q: ids.label } }),
  get: byId,
  edit: (ids) => ({ ...byId(ids), body: { label: 'mine now', fire_at: '2041-01-01T00:00:00Z' } }),
  cancel: byId,
  pause: byId,
  resume: byId,
  skip: byId,
  fire: byId,
  retry: byId,
  complete: (ids) => ({ ...byId(ids), body: { result: 'x', occurrence_id: ids.occurrence } }),
  fail: (ids) => ({ ...byId(ids), body: { reason: 'x', occurrence_id: ids.occurrence } }),
  act: (ids) => ({ body: { action: 'cancel', filter: filter(ids) } }),
  removeSubject: ({ subject }) => ({ params: { subject } }),
  reset: () => ({}),
  preview: () => ({ body: { fire_at: NEW.fire_at } }),
  why: byId,
  history: ({ target }) => ({ query: { target } }),
  stats: () => ({}),
  failed: () => ({ query: { limit: '500' } }),
  events: ({ alarm }) => ({ query: { alarm_id: alarm } }),
  append: ({ subject, correlation }) => ({
    body: { type: 'order.paid', subject, correlation_id: correlation, data: {} },
  }),
  stream: ({ alarm }) => ({ query: { alarm_id: alarm, after: 'oldest' } }),
  createTicket: () => ({}),
  getCalendarFeed: () => ({}),
  createCalendarFeed: () => ({}),
  removeCalendarFeed: () => ({}),
  listCalendars: () => ({}),
  getCalendar: byName,
  putCalendar: (ids) => ({ ...byName(ids), body: { dates: ['2040-12-24'] } }),
  addToCalendar: (ids) => ({ ...byName(ids), body: { dates: ['2040-12-25'] } }),
  removeCalendar: byName,
  inbox: () => ({ query: { limit: '100' } }),
  ack: ({ occurrence }) => ({ params: { occurrence_id: occurrence }, body: { complete: 'stolen' } }),
  getOwnerTarget: () => ({}),
  putOwnerTarget: () => ({ body: { target: 'inbox' } }),
  removeOwnerTarget: () => ({}),
  getTenantTarget: () => ({}),
  putTenantTarget: () => ({ body: { target: 'inbox' } }),
  removeTenantTarget: () => ({}),
  createKey: ({ tenant }) => ({ body: { tenant, owner: 'bob', rights: 'read' } }),
  listKeys: () => ({ query: { limit: '500' } }),
  rotateKey: byKeyId,
  revokeKey: byKeyId,
  listTenants: () => ({ query: { limit: '500' } }),
  getTenant: byTenant,
  putTenant: (ids) => ({ ...byTenant(ids), body: { quotas: { active_alarms: 0 } } }),
  pauseTenant: byTenant,
  resumeTenant: byTenant,
  webhookSecret: () => ({}),
  rotateWebhookSecret: () => ({}),
  listPausedTargets: () => ({}),
  pauseTarget: ({ target }) => ({ body: { target } }),
  resumeTarget: ({ target }) => ({ body: { target } }),
}

/** The calls on one alarm again, by its key. */
const BY_KEY = Object.fromEntries(
  ONE_ALARM_CALLS.map((name) => [
    byKey(name),
    (ids: Ids) => ({ ...BY_ID[name](ids), params: { key: ids.key } }),
  ]),
) as unknown as Cases<ByKey<OneAlarmCall>>

/** How each call could access what belongs to another owner. A call that is missing here does not compile. */
export const CASES: Cases<OperationName> = { ...BY_ID, ...BY_KEY }

/** The same with cursors of another owner's lists and logs. */
export const BY_CURSOR: Partial<Readonly<Record<OperationName, (ids: Ids) => Ask>>> = {
  list: ({ listCursor }) => ({ query: { cursor: listCursor, limit: '1' } }),
  events: ({ eventCursor }) => ({ query: { after: eventCursor } }),
}

/** How each MCP tool could access what belongs to another owner: by id, or by key. */
export const TOOL_CASES: Readonly<Record<string, readonly ((ids: Ids) => Record<string, unknown>)[]>> = {
  set: [({ key, idempotencyKey }) => ({ ...NEW, key, idempotency_key: idempotencyKey })],
  list: [({ subject, label }) => ({ subject, q: label }), ({ listCursor }) => ({ cursor: listCursor })],
  get: [({ alarm }) => ({ id: alarm }), ({ key }) => ({ key })],
  cancel: [({ alarm }) => ({ id: alarm }), ({ key }) => ({ key })],
  reschedule: [({ alarm }) => ({ id: alarm, delay: '5s' }), ({ key }) => ({ key, label: 'mine now' })],
  preview: [() => ({ fire_at: NEW.fire_at })],
  complete: [({ alarm, occurrence }) => ({ id: alarm, occurrence_id: occurrence }), ({ key }) => ({ key })],
  fail: [({ alarm, occurrence }) => ({ id: alarm, occurrence_id: occurrence }), ({ key }) => ({ key })],
  why: [({ alarm }) => ({ id: alarm }), ({ key }) => ({ key })],
  inbox: [() => ({ wait: '0s', limit: 100 })],
  ack: [({ occurrence }) => ({ occurrence_id: occurrence, complete: 'stolen' })],
}
