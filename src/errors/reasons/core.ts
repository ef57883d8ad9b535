import { reasons } from '../reason.ts'
import type { Words } from '../words.ts'

const DURATION_FORMS =
  "Write a duration like '250ms', '10s', '5m', '2h', '3d', '1w', '1h30m', '1.5h' or 'PT10M'."

/** What the client and the code that it shares with the library refuse. */
export const CORE_REASONS = reasons('invalid_request', {
  'host.node_version':
    'Wakeful needs Node {min} or newer, and this is Node {found}. Upgrade Node (https://nodejs.org, or your version manager).',
  // Any field.
  'field.unknown': (
    { name, fields, other }: { name: string; fields: readonly string[]; other: string | null },
    words,
  ) => {
    const what = `Unknown ${words.part} ${JSON.stringify(name)}.`
    const meant = other === null ? '' : ` Did you mean ${words.name(other)}?`
    return `${what}${meant}${fields.length === 0 ? '' : ` Known: ${words.names(fields)}.`}`
  },
  'field.required': ({ expected }: { expected: string }, words) =>
    `${words.it} is required.${expected === '' ? '' : ` ${expected}`}`,
  'field.invalid': '{field} must be {expected}, not {value}.',
  /** Without the value, which may be a secret or says nothing. */
  'field.malformed': '{field} must be {expected}.',
  'field.not_one_of': '{field} must be one of {allowed}, not {value}.',
  'field.not_whole_number': (
    { min, max, value }: { min: number; max: number | null; value: string },
    words,
  ) =>
    `${words.it} must be a whole number ${max === null ? `of at least ${min}` : `from ${min} to ${max}`}, not ${value}.`,
  'field.too_many': '{field} has {count} {unit}. At most {max} are allowed.',
  'field.too_small': '{field} must be greater than zero.',
  'field.empty': '{field} is empty. Set a value, or leave it out.',
  'field.too_long': '{field} is {bytes} bytes long. At most {max} are allowed.',
  'field.nul_character': '{field} contains a NUL character, which cannot be stored.',
  'field.lone_surrogate': '{field} contains half of a surrogate pair, which cannot be stored.',
  'field.without_unit':
    '{field} must be a string with a unit, such as "{example}" for seconds, not a number.',
  'field.immutable': '{field} cannot be edited. Set another alarm instead.',
  'field.both': '{field} and {other} exclude each other. Use one of them.',
  'field.needs': '{field} needs {other}. Set both.',
  'field.misplaced': ({ call, name }: { call: string; name: string }, words) =>
    `${words.it} belongs inside the first argument of ${call}: { at: 'every day at 9am', ${name}: … }.`,
  'when.kinds': ({ fields, others }: { fields: readonly string[]; others: readonly string[] }, words) =>
    `Set exactly one of ${words.names(fields)}. This time has ${others.length === 0 ? 'none' : others.map(words.name).join(' and ')}.`,
  'options.not_object': '{call} takes its options as an object, not {value}.',
  'argument.not_list': '{call} takes a list of {of}, not {value}.',
  'request.several_errors': '',

  // Instants and durations. `text` is what was written, quoted.
  'instant.malformed':
    "invalid_time: {text} is not an instant. Write it like '2026-12-24T18:00:00Z' or '2026-12-24T18:00:00+01:00'.",
  'instant.words':
    'invalid_time: {field} must be an instant such as {example}, not {text}. Use `when` for plain language.',
  'instant.no_offset':
    "invalid_time: {text} is not an instant: it has no offset. Add 'Z' or one like '+01:00', or set <timezone>.",
  'instant.out_of_range': 'invalid_time: {text} is outside the years 1970 to 9999.',
  'instant.bare_number': {
    code: 'invalid_time',
    text: ({ value }: { value: string }, words) =>
      words.interface === 'library'
        ? `The bare number ${value} could be seconds or milliseconds. Use { unix: seconds } or a Date.`
        : `The bare number ${value} could be seconds or milliseconds. Use an instant such as "2030-01-01T09:00:00Z".`,
  },
  'instant.type': {
    code: 'invalid_time',
    text: ({ value }: { value: string }, words) =>
      words.interface === 'library'
        ? `${words.it} must be a Date, a Temporal.Instant or a string, not ${value}.`
        : `${words.it} must be a string, such as "2030-01-01T09:00:00Z", not ${value}.`,
  },
  'instant.invalid_date': 'invalid_time: The Date is invalid. Use one with a valid time.',
  'instant.unix_in_milliseconds':
    'invalid_time: <unix> {value} is after the year 9999. It is in seconds; this looks like milliseconds.',
  'duration.malformed': `invalid_time: {text} is not a duration. ${DURATION_FORMS}`,
  'duration.signed': `invalid_time: {text} is not a duration: it must not have a sign. ${DURATION_FORMS}`,
  'duration.no_unit': `invalid_time: {text} has no unit. ${DURATION_FORMS}`,
  'duration.calendar_unit':
    'invalid_time: {text} is not a duration: months and years have no fixed length. Count in days or weeks.',
  'duration.text_too_long': `invalid_time: This text is too long for a duration. ${DURATION_FORMS}`,
  'duration.too_long': 'invalid_time: {text} is longer than 10,000 years.',
  'duration.not_milliseconds': 'invalid_time: {value} is not a duration in whole milliseconds.',
  'every.no_number': "invalid_rule: {text} has no number. Use '{one}'.",
  'every.out_of_range': 'invalid_rule: {text} is not a step from one month to 8,000 years.',
  'every.under_a_second': 'invalid_rule: {text} is under a second. A rule fires at most once a second.',

  // The client itself.
  'client.address': '{field} must be the URL of a server, such as http://127.0.0.1:7420.',
  'client.address_protocol': '{field} must begin with http:// or https://, not {protocol}//.',
  'client.address_password': '{field} contains a user name or a password. Pass the key as `key`.',
  'client.address_query': '{field} must end with its path. Leave out ? and #.',
  'client.key': (_: Record<never, never>, words) =>
    `${words.interface === 'cli' ? 'The key in WAKEFUL_KEY' : 'The key'} is malformed. It is wk_ and what follows, without spaces.`,
  'client.not_in_address': "{field} {value} cannot be part of a URL. Use the alarm's id, or another name.",
  'client.tx': 'A transaction does not work over the network. Leave {field} out.',
  'client.traceparents':
    '{field} differs between the alarms, and one call has one trace. Set alarms with different traces one by one.',
  'client.no_answer': {
    code: 'store_unavailable',
    text: ({ url, cause, repeatable }: { url: string; cause: string; repeatable: boolean }, words) =>
      `No answer from ${url} (${cause}).${startAdvice(cause)}${retryAdvice(repeatable, words)}`,
  },
  'client.timed_out': {
    code: 'store_unavailable',
    text: ({ url, ms, repeatable }: { url: string; ms: number; repeatable: boolean }, words) =>
      `No answer from ${url} (timed out after ${ms} ms).${retryAdvice(repeatable, words)}`,
  },
  'client.stream_ended': 'store_unavailable: The stream of {url} ended early. Connect again.',
  'client.not_json': 'internal: The answer of {url} is not JSON. Check that it is a Wakeful server.',
  /** The code follows from the status. */
  'client.not_wakeful':
    'internal: {url} answered {status}, but not as a Wakeful server does. Check the address.',
  'client.wrong_address': 'There is no call {call} at {url}. Check the address.',
  'event.follow_until': '<follow> reads on for ever, so it has no {field}. Leave one of them out.',
  'client.since':
    '<since> must be an instant over the network: a Date, an ISO string, { unix: seconds }, or a duration, which means that long ago.',

  // JSON.
  'json.syntax': ({
    what,
    at,
    expected,
    found,
  }: {
    what: string
    at: number
    expected: string
    found: string | null
  }) =>
    `The ${what} is not JSON: expected ${expected} at character ${at}, found ${found ?? 'the end of the text'}.`,
  'json.invalid': '{field} is not JSON: {cause}.',
  'json.too_deep': 'The JSON is nested deeper than {max} levels. Flatten it.',
  'json.name_twice': '{name} appears twice in one object. Use each name once.',
  'json.unwritable': '{field} cannot be written as JSON: {cause}.',
  'json.no_value': '{field} cannot be written as JSON, because it is a {type}.',
  'json.not_finite': ({ value, name }: { value: string; name: string | null }, words) =>
    `${words.it} cannot be written as JSON, because it contains ${value}${name === null ? '' : ` at ${JSON.stringify(name)}`}.`,
})

/** A connection that was reset had a server, so only others ask for one. */
function startAdvice(cause: string): string {
  return cause.includes('ECONNRESET') ? '' : ' Is the server running? Start one with `wakeful serve`.'
}

function retryAdvice(repeatable: boolean, words: Words): string {
  if (repeatable) return ''
  return ` It is unknown whether the call took effect. Use ${words.name('idempotencyKey')} to make it safe to repeat.`
}
