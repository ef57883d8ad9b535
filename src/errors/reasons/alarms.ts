import { reason } from '../reason.ts'

/** Refusals about alarms, their state, and what belongs to them. */
export const ALARM_REASONS = {
  'alarm.not_found': reason<{ name: string }>('not_found', ({ name }) => `There is no alarm ${name}.`),
  'alarm.not_found_in_store': reason<{ name: string; store: string }>(
    'not_found',
    ({ name, store }) =>
      `There is no alarm ${name} in ${store}. It may be in another store (--db), belong to another tenant or owner, or have ended more than 30 days ago.`,
  ),
  'alarm.ended': reason<{ verb: string; status: string }>(
    'already_ended',
    ({ verb, status }) => `Cannot ${verb}: the alarm has ended (${status}).`,
  ),
  'alarm.wrong_status': reason<{ verb: string; status: string }>(
    'conflict',
    ({ verb, status }) => `Cannot ${verb} while the alarm is ${status}.`,
  ),
  'alarm.not_retryable': reason<{ status: string }>(
    'conflict',
    ({ status }) => `Cannot retry: the alarm is ${status}. Only failed or timed_out alarms can be retried.`,
  ),
  'alarm.firing': reason<{ verb: string }>(
    'conflict',
    ({ verb }) => `Cannot ${verb}: the alarm is firing now. Try again when it has settled.`,
  ),
  'alarm.not_fired': reason<{ verb: string }>(
    'conflict',
    ({ verb }) => `Cannot ${verb}: the alarm has not fired yet.`,
  ),
  'alarm.no_report_awaited': reason<{ verb: string }>(
    'conflict',
    ({ verb }) => `Cannot ${verb}: no occurrence of the alarm awaits a report.`,
  ),
  'alarm.single_occurrence': reason(
    'invalid_request',
    () => 'Cannot skip next: the alarm has only one occurrence. Cancel it instead.',
  ),
  'alarm.no_next_occurrence': reason(
    'conflict',
    () => 'Cannot skip next: no further occurrence is scheduled.',
  ),
  'alarm.edited': reason<{ at: string; seen: string }>(
    'conflict',
    ({ at, seen }) => `The alarm was edited at ${at}, after the version you read (${seen}). Read it again.`,
  ),
  'alarm.cancelled_while_firing': reason(
    'conflict',
    () => 'The alarm was cancelled while it was firing, and ends with this delivery. Set a new alarm.',
  ),
  'alarm.nothing_to_edit': reason(
    'invalid_request',
    () => 'There is nothing to edit. Name at least one field.',
  ),
  'alarm.which': reason(
    'invalid_request',
    () => 'Name the alarm by its id or by its key: exactly one of them.',
  ),
  'batch.too_large': reason<{ count: number; max: number }>(
    'invalid_request',
    ({ count, max }) => `The batch has ${count} alarms. At most ${max} are allowed.`,
  ),
  'backoff.shape': reason(
    'invalid_request',
    (_, words) =>
      `${words.it} must be an object with ${words.name('backoff.baseMs')} and ${words.name('backoff.capMs')}.`,
  ),
  'payload.too_large': reason<{ bytes: number; max: number }>(
    'payload_too_large',
    ({ bytes, max }, words) => `${words.it} is ${bytes} bytes of JSON. At most ${max} are allowed.`,
  ),
  'payload.over_quota': reason<{ bytes: number; max: number }>(
    'payload_too_large',
    ({ bytes, max }, words) =>
      `${words.names(['payload', 'message', 'target', 'onFailure'])} are ${bytes} bytes together. Your quota is ${max} (payload_bytes). Store large data elsewhere and put a reference into the payload.`,
  ),
  'pool.too_many': reason<{ pool: string; max: number }>(
    'quota_exceeded',
    ({ pool, max }) =>
      `Pool ${pool} would be one more than the ${max} pools a store can have. Name a pool that a process serves, or the handler alone.`,
  ),
  'pool.malformed': reason<{ name: string }>(
    'invalid_request',
    ({ name }) => `Pool ${name} must be 1 to 64 lower-case letters, digits, - and _.`,
  ),
  'pool.built_in': reason<{ name: string }>(
    'invalid_request',
    ({ name }) => `Pool ${name} is reserved for the built-in targets. Choose another name.`,
  ),
  'target.missing': reason(
    'invalid_request',
    (_, words) =>
      `The alarm has no target. Set ${words.it} to the name of a handler, 'inbox', { webhook: 'https://…' } or { event: true }, or give its owner a default target.`,
  ),
  'target.malformed': reason<{ value: string }>(
    'invalid_request',
    ({ value }) => `A target must be the name of a handler or an object that names its kind, not ${value}.`,
  ),
  'target.unknown_kind': reason<{ value: string; kinds: readonly string[] }>(
    'invalid_request',
    ({ value, kinds }) => `Unknown kind of target (${value}). Known: ${kinds.join(', ')}.`,
  ),
  'target.unknown_field': reason<{ target: string; names: readonly string[]; known: readonly string[] }>(
    'invalid_request',
    ({ target, names, known }) => `${target} has no field ${names.join(', ')}. Known: ${known.join(', ')}.`,
  ),
  'target.form': reason<{ target: string; form: string }>(
    'invalid_request',
    ({ target, form }) => `Write the ${target} target as ${form}.`,
  ),
  'target.not_as_default': reason<{ kind: string }>(
    'invalid_request',
    ({ kind }) => `A default target must be { webhook: 'https://…' } or 'inbox', not one of kind ${kind}.`,
  ),
  'target.no_default': reason(
    'not_found',
    () => 'You have no default target. Set one with PUT /v1/owner/target.',
  ),
  'target.not_paused': reason<{ kind: string; name: string }>(
    'not_found',
    ({ kind, name }) => `The ${kind} ${name} is not paused.`,
  ),
  'handler.name_reserved': reason<{ name: string }>(
    'invalid_request',
    ({ name }) => `'${name}' is the inbox. Give the handler another name.`,
  ),
  'handler.not_function': reason<{ name: string }>(
    'invalid_request',
    ({ name }) => `Handler ${name} must be a function.`,
  ),
  'handler.timeout': reason<{ name: string; value: string }>(
    'invalid_request',
    ({ name, value }) => `timeoutMs of handler ${name} must be a whole number of milliseconds, not ${value}.`,
  ),
  'handler.registered': reason<{ name: string }>(
    'invalid_request',
    ({ name }) => `Handler ${name} is already registered.`,
  ),
  'handler.not_transactional': reason(
    'invalid_request',
    () => 'fire.tx exists only on a transactional handler: handle(name, fn, { transactional: true }).',
  ),
  'handler.ended_transaction': reason(
    'invalid_request',
    () => 'The handler ended or broke its transaction. Wakeful commits fire.tx itself, with the settle.',
  ),
  'webhook.invalid': reason<{ detail: string }>('invalid_request', ({ detail }) => detail),
  'webhook.unsupported': reason('invalid_request', () => 'This host sends no webhooks.'),
  'webhook.secrets_full': reason<{ max: number; until: string }>(
    'conflict',
    ({ max, until }) =>
      `${max} former secrets still sign, each for 24 hours after it was replaced. Rotate again after ${until}, when the first of them expires.`,
  ),
  'inbox.both_reports': reason(
    'invalid_request',
    (_, words) =>
      `Report a wake with ${words.name('complete')} or with ${words.name('fail')}, not with both.`,
  ),
  'inbox.wake_not_found': reason<{ occurrence: string; again: boolean }>(
    'not_found',
    ({ occurrence, again }) =>
      `No wake ${occurrence} was handed out to you, or it is already acknowledged${again ? ', or it was handed out again since' : ''}.`,
  ),
  'inbox.full': reason<{ tenant: string; owner: string; max: number }>(
    'quota_exceeded',
    ({ tenant, owner, max }) =>
      `The inbox of owner ${owner} of tenant ${tenant} is full (${max} wakes). Read and acknowledge them.`,
  ),
  'event.type_reserved': reason<{ prefix: string }>(
    'invalid_request',
    ({ prefix }) => `Types that begin with ${prefix}. are written by Wakeful itself. Choose another name.`,
  ),
  'event.type_unknown': reason<{ value: string; near: string | null; known: readonly string[] }>(
    'invalid_request',
    ({ value, near, known }, words) =>
      `${words.it}: no event has the type ${value}. ${near === null ? `Wakeful’s own are ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  ),
  'calendar.too_many': reason<{ max: number }>(
    'quota_exceeded',
    ({ max }) => `There are already ${max} calendars. Remove one, or add the dates to another.`,
  ),
  'calendar.not_found': reason<{ name: string; near: string | null }>(
    'not_found',
    ({ name, near }) =>
      `There is no calendar ${name}. ${near === null ? '`calendar list` shows them all.' : `Did you mean '${near}'?`}`,
  ),
  'calendar.changed': reason<{ name: string | null }>(
    'conflict',
    ({ name }) =>
      `${name === null ? 'A calendar the alarm names' : `The calendar ${name}`} was edited or removed meanwhile. Set the alarm again.`,
  ),
  'calendar.in_use': reason<{ alarm: string; name: string }>(
    'conflict',
    ({ alarm, name }, words) =>
      `Alarm ${alarm} names the calendar ${name}. Cancel or reschedule it first, or ${words.interface === 'cli' ? 'empty the calendar with `calendar put NAME --empty`' : 'put the calendar without dates'}.`,
  ),
  'list.order_without_instant': reason<{ status: string }>(
    'invalid_request',
    ({ status }, words) =>
      `${words.option('order', 'due')} lists alarms that have an instant to come: active, pending, or fired with a report awaited. For status ${status}, leave ${words.name('order')} out.`,
  ),
  'list.cursor_of_other_order': reason<{ order: string }>(
    'invalid_request',
    ({ order }) =>
      `This cursor belongs to a list in another order than ${order}. Use it with the order of the page it came from.`,
  ),
  'cursor.malformed': reason<{ value: string; kind: string }>(
    'invalid_request',
    ({ value, kind }) => `${value} is not a cursor of a page of ${kind}.`,
  ),
  'cursor.expired': reason(
    'cursor_expired',
    () =>
      'Events after this cursor are no longer kept, so some would be missed. Start again, from the oldest event kept or from the newest.',
  ),
  'document.contended': reason<{ kind: string; name: string }>(
    'conflict',
    ({ kind, name }) => `${kind} ${name} is being changed by others. Try again.`,
  ),
}
