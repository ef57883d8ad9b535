import { reason } from '../reason.ts'

/** What the client finds wrong itself. */
export const CLIENT_REASONS = {
  'client.address': reason(
    'invalid_request',
    () => 'The address of a server must be a URL such as http://127.0.0.1:7420.',
  ),
  'client.address_protocol': reason<{ protocol: string }>(
    'invalid_request',
    ({ protocol }) => `The address of a server must begin with http:// or https://, not ${protocol}//.`,
  ),
  'client.address_password': reason(
    'invalid_request',
    () => 'The address contains a user name or a password. Pass the key as `key`.',
  ),
  'client.address_query': reason(
    'invalid_request',
    () => 'The address of a server ends with its path. Leave out ? and #.',
  ),
  'client.key': reason(
    'invalid_request',
    (_, words) =>
      `${words.interface === 'cli' ? 'The key in WAKEFUL_KEY' : 'The key'} is malformed. It is wk_ and what follows, without spaces.`,
  ),
  'client.not_in_address': reason<{ value: string }>(
    'invalid_request',
    ({ value }, words) => `${words.it} ${value} cannot be part of an address.`,
  ),
  'client.tx': reason(
    'invalid_request',
    (_, words) => `${words.name('tx')}: a transaction does not work over the network. Leave it out.`,
  ),
  'client.traceparents': reason(
    'invalid_request',
    (_, words) =>
      `${words.name('traceparent')}: one call has one trace. Set alarms with different traces one by one.`,
  ),
  'client.no_answer': reason<{ url: string; detail: string; repeatable: boolean }>(
    'store_unavailable',
    ({ url, detail, repeatable }, words) =>
      `No answer from ${url} (${detail}).${repeatable ? '' : ` It is unknown whether the call took effect. Use ${words.name('idempotencyKey')} to make it safe to repeat.`}`,
  ),
  'client.stream_ended': reason<{ url: string }>(
    'store_unavailable',
    ({ url }) => `The stream of ${url} ended early.`,
  ),
  'client.not_json': reason<{ url: string }>(
    'internal',
    ({ url }) => `The answer of ${url} is not JSON. Check that it is a Wakeful server.`,
  ),
  /** The code follows from the status. */
  'client.not_wakeful': reason<{ url: string; status: number }>(
    'internal',
    ({ url, status }) => `${url} answered ${status}, but not as a Wakeful server does. Check the address.`,
  ),
  'client.wrong_address': reason<{ call: string; url: string }>(
    'invalid_request',
    ({ call, url }) => `There is no call ${call} at ${url}. Check the address.`,
  ),
  'client.since': reason(
    'invalid_request',
    (_, words) =>
      `${words.name('since')} must be an instant over the network: a Date, an ISO string, { unix: seconds }, or a duration, which means that long ago.`,
  ),
}

/** Refusals about JSON. */
export const JSON_REASONS = {
  'json.syntax': reason<{ what: string; at: number; expected: string; found: string | null }>(
    'invalid_request',
    ({ what, at, expected, found }) =>
      `The ${what} is not JSON: expected ${expected} at character ${at}, found ${found ?? 'the end of the text'}.`,
  ),
  'json.invalid': reason<{ what: string; detail: string }>(
    'invalid_request',
    ({ what, detail }) => `The ${what} is not JSON: ${detail}.`,
  ),
  'json.too_deep': reason<{ max: number }>(
    'invalid_request',
    ({ max }) => `The JSON is nested deeper than ${max} levels.`,
  ),
  'json.name_twice': reason<{ name: string }>(
    'invalid_request',
    ({ name }) => `${name} appears twice in one object.`,
  ),
  'json.lone_surrogate': reason<{ what: string }>(
    'invalid_request',
    ({ what }) => `The ${what} contains half of a surrogate pair.`,
  ),
  'json.unwritable': reason<{ what: string; detail: string }>(
    'invalid_request',
    ({ what, detail }) => `The ${what} cannot be written as JSON: ${detail}.`,
  ),
}
