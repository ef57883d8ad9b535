import { reasons } from '../reason.ts'
import type { Members, Words } from '../words.ts'

/** Refusals about alarms, their state, and what belongs to them. */
export const ALARM_REASONS = reasons('invalid_request', {
  'alarm.not_found': 'not_found: There is no alarm {name}.',
  'alarm.not_found_in_store':
    'not_found: There is no alarm {name} in {store}. It may be in another store (--db), belong to another tenant or owner, or have ended more than 30 days ago.',
  'alarm.ended': 'already_ended: Cannot {verb}: the alarm has ended ({status}).',
  'alarm.wrong_status': 'conflict: Cannot {verb} while the alarm is {status}.',
  'alarm.not_retryable':
    'conflict: Cannot retry: the alarm is {status}. Only failed or timed_out alarms can be retried.',
  'alarm.firing': 'conflict: Cannot {verb}: the alarm is firing now. Try again when the delivery has ended.',
  'alarm.not_fired': 'conflict: Cannot {verb}: the alarm has not fired yet.',
  'alarm.no_report_awaited': 'conflict: Cannot {verb}: no occurrence of the alarm awaits a report.',
  'alarm.no_such_occurrence':
    'not_found: Cannot {verb}: the alarm never had an occurrence {occurrence}. Use the id that came with the delivery.',
  'alarm.single_occurrence': 'Cannot skip next: the alarm has only one occurrence. Cancel it instead.',
  'alarm.no_next_occurrence': 'conflict: Cannot skip next: no further occurrence is scheduled.',
  'alarm.edited':
    'conflict: The alarm was edited at {at}, after the version you read ({seen}). Read it again.',
  'alarm.cancelled_while_firing':
    'conflict: The alarm was cancelled while it was firing, and ends with this delivery. Set a new alarm.',
  'alarm.snooze_recurs':
    "An alarm is snoozed until one instant, or for one duration, such as '10m'. Use reschedule to change its rule.",
  'alarm.snooze_past':
    'invalid_time: {instant} is in the past. Use a time that is still to come, or fire the alarm now.',
  'alarm.snooze_cancelled': 'already_ended: Cannot snooze: the alarm was cancelled. Set it again.',
  'alarm.nothing_to_edit': 'There is nothing to edit. Name at least one field.',
  'alarm.which': 'Name the alarm by its id or by <key>: exactly one of them.',
  'batch.too_large': '{field} has {count} alarms. At most {max} are allowed.',
  'apply.no_key': '{field} is missing. Every alarm of the list needs one.',
  'apply.same_key': 'The list has {field} {key} twice. Give each alarm its own key.',
  'set.paused': '{field} can only be false, which ends a pause, not {value}. To pause an alarm, call pause.',
  'backoff.shape': '{field} must be an object with <backoff.baseMs> and <backoff.capMs>.',
  'payload.too_large': 'payload_too_large: {field} is {bytes} bytes of JSON. At most {max} are allowed.',
  'payload.over_quota':
    'payload_too_large: <payload>, <message>, <target>, <onFailure> are {bytes} bytes together. Your quota is {max} (payload_bytes). Store large data elsewhere and put a reference into the payload.',
  'pool.too_many':
    'quota_exceeded: A store can have at most {max} pools, so pool {pool} cannot be added. Use a pool that a process serves, or name the handler without a pool.',
  'pool.malformed': 'Pool {name} must be 1 to 64 lower-case letters, digits, - and _.',
  'pool.built_in': 'Pool {name} is reserved for the built-in targets. Choose another name.',
  'target.missing': (_: Record<never, never>, words) =>
    `The alarm has no target. Set ${words.it} to the name of a handler, 'inbox', ${words.object({ webhook: 'https://…' })} or ${words.object({ event: true })}, or give its owner a default target.`,
  'target.malformed': 'A target must be the name of a handler or an object that names its kind, not {value}.',
  'target.unknown_kind': ({
    value,
    kinds,
    near,
  }: {
    value: string
    kinds: readonly string[]
    near: string | null
  }) =>
    `Unknown kind of target (${value}).${near === null ? '' : ` Did you mean ${near}?`} Known: ${kinds.join(', ')}.`,
  'target.like_url': ({ name }: { name: string }, words) => {
    const url = words.interface === 'cli' ? `${words.it} https://…` : words.object({ webhook: 'https://…' })
    return `${words.it} ${name} looks like a URL. Write ${url} to call a URL, or ${targetForm({ handler: name }, words)} for a handler of this name.`
  },
  'target.misspelt': ({ name, near }: { name: string; near: string }, words) => {
    const meant = near === 'event' || near === 'default' ? targetForm({ [near]: true }, words) : near
    return `No process has registered the handler ${name}. Did you mean ${meant}? Otherwise write ${targetForm({ handler: name }, words)}, which is accepted before a process registers it.`
  },
  'target.form': ({ target }: { target: string }, words) =>
    `Write the ${target} target as ${target === 'inbox' ? "'inbox' or " : ''}${targetForm({ [target]: true }, words)}.`,
  'target.not_as_default': ({ kind }: { kind: string }, words) =>
    `A default target must be ${words.object({ webhook: 'https://…' })} or 'inbox', not one of kind ${kind}.`,
  'target.no_default': 'not_found: You have no default target. Set one with PUT /v1/owner/target.',
  'target.no_tenant_default':
    'not_found: Your tenant has no default target. Set one with PUT /v1/tenant/target.',
  'target.not_paused': 'not_found: The {kind} {name} is not paused, so it cannot be resumed.',
  'handler.name_reserved': "The name '{name}' is reserved for the inbox. Give the handler another name.",
  'handler.not_function': 'Handler {name} must be a function.',
  'handler.registered': 'Handler {name} is already registered. Choose another name.',
  'handler.not_transactional':
    'fire.tx exists only on a transactional handler: handle(name, fn, { transactional: true }).',
  'handler.ended_transaction':
    'The handler committed, rolled back or broke fire.tx. Do not end it: Wakeful commits it together with the result.',
  'webhook.url': '{field} must be a URL that begins with https:// or http://, not {value}.',
  'webhook.characters': '{field} contains spaces, control characters or backslashes. Percent-encode them.',
  'webhook.credentials': '{field} contains a user or password. Send them in headers, which are encrypted.',
  'webhook.fragment': '{field} has a fragment (#…), which is never sent. Leave it out.',
  'webhook.forbidden_address':
    '{field} is at a {kind} address, which webhooks cannot reach. The operator can allow such addresses with WAKEFUL_ALLOW_PRIVATE_TARGETS=1.',
  'webhook.headers': '{field} must be an object of strings, not {value}.',
  'webhook.header_twice': 'The header {name} appears twice. Use it once.',
  'webhook.header_name': '{name} is not a valid header name. Use letters, digits and -.',
  /** Without the value, which may be a secret. */
  'webhook.header_value': 'The header {name} must be ASCII text without line ends or control characters.',
  'webhook.header_reserved':
    'The header {name} cannot be set, because Wakeful or the connection writes it. Leave it out.',
  'webhook.body': '{field} must be JSON or text, not {value}.',
  'webhook.body_with_get': 'A webhook with GET has no body. Leave the body out, or use POST.',
  'webhook.placeholder': '{field} has the unknown placeholder {name}. Known: {known} and payload.a.b.',
  'webhook.url_placeholder': '{field} has the unknown placeholder {name}. Known in a URL: {known}.',
  'webhook.placeholder_in_host':
    '{field} has a placeholder in its host. Placeholders work after the host, in the path and the query.',
  'webhook.placeholder_after_percent':
    '{field} has a % in front of a placeholder, with which it would be decoded. Write a literal % as %25.',
  'webhook.placeholder_in_name':
    '{field} has a placeholder in the name {name}. Placeholders work in values only.',
  'webhook.unsupported': 'This host sends no webhooks. Use a handler or the inbox.',
  'webhook.secrets_full':
    'conflict: {max} former secrets are still used to sign, each for 24 hours after it was replaced. Rotate again after {until}, when the first of them expires.',
  'inbox.both_reports': 'Report a wake with <complete> or with <fail>, not with both.',
  'inbox.wake_not_found':
    'not_found: You hold no wake {occurrence}: it was never handed out to you, was already acknowledged, or has been handed out again.',
  'inbox.full':
    'quota_exceeded: The inbox of owner {owner} of tenant {tenant} is full ({max} wakes). Read and acknowledge them.',
  'event.type_reserved':
    'Types that begin with {prefix}. are written by Wakeful itself. Choose another name.',
  'event.since_after_until':
    '{field} ({until}) must be after <since> ({since}), or no event can match. Swap them, or leave one out.',
  'event.type_unknown': (
    { value, near, known }: { value: string; near: string | null; known: readonly string[] },
    words,
  ) =>
    `${words.it}: There is no event type ${value}. ${near === null ? `Wakeful’s own are ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  'calendar.too_many':
    'quota_exceeded: There are already {max} calendars. Remove one, or add the dates to another.',
  'calendar.not_found': {
    code: 'not_found',
    text: ({ name, near }: { name: string; near: string | null }, words) => {
      const list = {
        library: '`calendars.list()` returns them all.',
        wire: 'GET /v1/calendars lists them.',
        cli: '`calendar list` shows them all.',
        mcp: 'Ask whoever keeps the calendars for its name.',
      }[words.interface]
      return `There is no calendar ${name}. ${near === null ? list : `Did you mean '${near}'?`}`
    },
  },
  'calendar.changed':
    'conflict: A calendar that the alarm names was edited or removed meanwhile. Set the alarm again.',
  'calendar.in_use': {
    code: 'conflict',
    text: ({ alarm, name }: { alarm: string; name: string }, words) =>
      `Alarm ${alarm} names the calendar ${name}. Cancel or reschedule it first, or ${words.interface === 'cli' ? 'empty the calendar with `calendar put NAME --empty`' : 'put the calendar without dates'}.`,
  },
  'list.order_without_instant':
    '<order=due> lists alarms that have a next instant: status active or pending. For status {status}, leave <order> out.',
  'list.cursor_of_other_order':
    'This cursor belongs to a list in another order than {order}. Use it with the order of the page it came from.',
  'cursor.malformed': '{value} is not a cursor of a page of {kind}.',
  'cursor.expired':
    'cursor_expired: Events after this cursor are no longer kept, so some would be missed. Start again, from the oldest event kept or from the newest.',
  'document.contended': 'conflict: Another call is changing {kind} {name}. Try again.',
})

/** A target as the caller would write it. The command line has a flag of its own for the event log. */
function targetForm(target: Members, words: Words): string {
  if (words.interface !== 'cli') return words.object(target)
  return 'event' in target ? '--event' : `'${words.object(target)}'`
}
