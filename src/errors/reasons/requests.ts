import { reasons } from '../reason.ts'

/** Refusals of a request to the server. */
export const REQUEST_REASONS = reasons('invalid_request', {
  // Who makes it.
  'access.key_missing': {
    code: 'unauthorized',
    text: (_: Record<never, never>, words) =>
      words.interface === 'cli'
        ? 'A key is required. Set WAKEFUL_KEY to a key (wk_…); an admin creates one with `wakeful keys create`.'
        : 'A key is required. Send it as Authorization: Bearer wk_…; an admin creates one with `wakeful keys create`.',
  },
  'access.key_unknown': {
    code: 'unauthorized',
    text: (_: Record<never, never>, words) =>
      `${words.interface === 'cli' ? 'The key in WAKEFUL_KEY' : 'This key'} is unknown. It may be revoked or expired.`,
  },
  'access.header_malformed': 'unauthorized: The Authorization header must be: Bearer wk_….',
  'access.address_unknown': 'unauthorized: This calendar URL is unknown or no longer valid.',
  'access.ticket_unknown':
    'unauthorized: This ticket is unknown. A ticket is valid once, for 30 seconds. Create another with POST /v1/tickets.',
  'access.other_tenant': 'forbidden: This key belongs to one tenant, and Wakeful-Tenant names another.',
  'access.other_owner': 'forbidden: This key belongs to one owner, and Wakeful-Owner names another.',
  'access.all_owners':
    'forbidden: `owner=*` reads the alarms of every owner. It needs a key that is not bound to one owner.',
  'access.all_tenants':
    "forbidden: `tenant=*` reads the alarms of every tenant. It needs an admin key of every tenant ('*').",
  'access.names_one':
    '{field} can only be * here, which means all of them, not {value}. Name one with the header {header}.',
  'access.every_tenant':
    'Wakeful-Tenant must name one tenant; * means all of them. Name the tenant whose alarms you mean.',
  'access.rights': 'forbidden: This needs a key with {needed} rights; yours has {rights} rights.',
  'access.keys_of_others': 'forbidden: Your key can create keys for its own tenant and owner only.',
  'access.rights_not_grantable': 'forbidden: Your key cannot grant {rights} rights.',
  'access.whole_tenant':
    'forbidden: The {what} belongs to the whole tenant. It needs an admin key that is not bound to one owner.',
  'access.operators_only': "forbidden: This is for operators. It needs an admin key of every tenant ('*').",
  'access.metrics': 'forbidden: Metrics cover all tenants. Use a key of tenant "*".',
  'access.origin':
    'forbidden: A page of {origin} may not call this server. allowed_origins lists the pages that may.',
  'access.other_site': 'forbidden: A page of another site or port may not call this server.',
  'access.not_local':
    'forbidden: Without keys, only this machine may call: the Host must be localhost or 127.0.0.1, not {host}. Create a key with `wakeful keys create`.',
  'access.proxied':
    'forbidden: Without keys, only this machine may call, and this request came through a proxy (it has {header}). Create a key with `wakeful keys create`.',
  'access.listen_without_keys':
    'forbidden: Listening on {host} lets other machines call, and there are no keys yet. Create one with `wakeful keys create --rights admin --tenant "*"` on the same store, or listen on 127.0.0.1.',
  'key.not_found': 'not_found: There is no key {id}.',
  'key.revoked': 'already_ended: The key {id} is revoked. Create another.',
  'tenant.not_found': 'not_found: There is no tenant {name}.',

  // Limits on what a tenant, an owner or a connection may use.
  'quota.sets_per_second':
    'rate_limited: {scope} may set {max} per second (sets_per_second). Wait and try again, or set them in one batch.',
  'quota.wakes_per_hour':
    'quota_exceeded: {scope} may set {max} per hour that fire within five minutes (wakes_per_hour). Fires and retries count too. Check whether an agent wakes itself in a loop, or set an alarm that is due later.',
  'quota.active_alarms': {
    code: 'quota_exceeded',
    text: ({ scope, max }: { scope: string; max: number | null }) =>
      `${scope} may have ${max} active alarm${max === 1 ? '' : 's'} (active_alarms). Cancel some, or wait until they have fired.`,
  },
  'quota.min_interval':
    'quota_exceeded: Your quota lets an alarm recur every {min} at the shortest (min_interval). Use a longer period; waiting does not help.',
  'limit.calls': {
    code: 'rate_limited',
    text: ({ count, own }: { count: number; own: boolean }) =>
      `${own ? `You already have ${count} waiting calls` : `${count} calls are already waiting`}. Try again shortly.`,
  },
  'limit.messages': 'rate_limited: At most {max} messages per second are allowed. Send fewer.',
  'limit.calls_in_progress':
    'rate_limited: {max} calls are in progress, and more are waiting. Wait for answers.',
  'limit.subscriptions': 'A connection has at most {max} subscriptions. Unsubscribe from one.',
  'limit.connections': 'rate_limited: All {max} live connections of this server are in use. Try again later.',
  'limit.tenant_connections':
    'rate_limited: Your tenant already has {max} live connections, half of what this server allows.',
  'limit.waiting_calls':
    'rate_limited: You already have {max} calls that wait for wakes. End one of them first.',
  'server.closing': 'store_unavailable: This server is shutting down. Try again shortly.',

  // Its form, before its content is looked at.
  'request.no_such_call':
    'not_found: There is no call {call}. /openapi.json lists them, and /llms.txt the docs.',
  'request.no_such_method': 'not_found: {path} does not support {method}. It supports {methods}.',
  'request.no_such_ws_call': 'not_found: There is no call {call}. Known: {known}.',
  'request.no_such_page': 'not_found: There is no page {path}. /llms.txt lists them.',
  'request.no_websocket_here': 'not_found: There is no WebSocket at this path. It is at {path}.',
  'request.stream_over_ws': 'Over the WebSocket, follow events with `subscribe`.',
  'request.websocket_handshake': 'The WebSocket handshake is invalid: {cause}.',
  'request.message_shape': 'A message must be an object: {"id":1,"call":"stats","args":{}}.',
  'request.header_twice': 'The request has {header} twice. Send it once.',
  'request.header_encoding': '{header} must be percent-encoded UTF-8.',
  'request.path_encoding': 'The path is not percent-encoded UTF-8. Write a literal % as %25.',
  'request.query_twice': '{name} appears twice in the query. Send it once.',
  'request.no_query': 'This call takes no query. Leave {name} out.',
  'request.if_match': 'If-Match must be the ETag of an alarm, such as "2030-01-01T09:00:00.000Z", or *.',
  'request.idempotency_header':
    'This call does not take the header Idempotency-Key. Give each item its own <idempotencyKey>.',
  'request.idempotency_keys_differ':
    'The header Idempotency-Key and `idempotency_key` in the body differ. Send one of them.',
  'request.cancelled': 'The caller disconnected before the call started.',
  'body.missing': 'The body is missing. It must be {expected}.',
  'body.content_type': 'The body must be JSON with Content-Type: application/json, not {type}.',
  'body.content_encoding': 'Send the body uncompressed, not with Content-Encoding: {encoding}.',
  'body.not_utf8': 'The body is not UTF-8. Encode it as UTF-8.',
  'body.cut_off': 'The body was cut off before its end. Send it again.',
  'body.too_large': 'payload_too_large: The body is larger than {max} bytes.',
})
