import type { OperationName, operations } from '../contracts/index.ts'

type Operations = typeof operations
type Route<N extends OperationName> = `${Operations[N]['method']} ${Operations[N]['path']}`

/** The route of each call, checked against the types of the contracts. */
export const ROUTES = {
  set: 'POST /v1/alarms',
  setMany: 'POST /v1/alarms/batch',
  setByKey: 'PUT /v1/alarms/by-key/{key}',
  getByKey: 'GET /v1/alarms/by-key/{key}',
  list: 'GET /v1/alarms',
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
  removeSubject: 'DELETE /v1/subjects/{subject}',
  reset: 'POST /v1/reset',
  preview: 'POST /v1/preview',
  why: 'GET /v1/alarms/{id}/why',
  history: 'GET /v1/history',
  stats: 'GET /v1/stats',
  failed: 'GET /v1/failed',
  events: 'GET /v1/events',
  append: 'POST /v1/events',
  inbox: 'GET /v1/inbox',
  ack: 'POST /v1/inbox/{occurrence_id}/ack',
  getOwnerTarget: 'GET /v1/owner/target',
  putOwnerTarget: 'PUT /v1/owner/target',
  removeOwnerTarget: 'DELETE /v1/owner/target',
  webhookSecret: 'GET /v1/webhooks/secret',
  rotateWebhookSecret: 'POST /v1/webhooks/secret/rotate',
} as const satisfies { readonly [N in OperationName]?: Route<N> }

/** The name of a call of this client. */
export type RouteName = keyof typeof ROUTES

type Shape<N extends RouteName, Part extends string> = Operations[N] extends {
  readonly [K in Part]: { readonly shape: infer S }
}
  ? keyof S & string
  : never

/** The input of a call, with the names of its contract. */
export interface CallInput<N extends RouteName> {
  readonly params?: { readonly [K in Shape<N, 'params'>]: string }
  readonly query?: { readonly [K in Shape<N, 'query'>]?: string | number | undefined }
  /** The body as JSON text. */
  readonly body?: string
  /** The version that an edit is based on. */
  readonly seen?: string
  /** The W3C trace context. */
  readonly traceparent?: string
  /** Added to the timeout. */
  readonly waitMs?: number
  /** Whether a write is safe to repeat. */
  readonly isRepeatable?: boolean
}
