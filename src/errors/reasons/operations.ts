import { reason } from '../reason.ts'

/** What operators meet: stores, files, settings and this process itself. */
export const STORE_REASONS = {
  'store.closed': reason<{ name: string }>('store_unavailable', ({ name }) => `${name} is closed.`),
  'store.unavailable': reason('store_unavailable', () => 'The store does not answer. Try again shortly.'),
  /** `detail` says what to do, `text` is the database's own message. */
  'store.failed': reason<{ name: string; detail: string; text: string }>(
    'store_unavailable',
    ({ name, detail, text }) => `${name}: ${detail} (${text})`,
  ),
  'store.unexpected': reason<{ name: string; text: string }>(
    'internal',
    ({ name, text }) => `${name}: ${text}`,
  ),
  'store.damaged_row': reason<{ name: string; text: string }>(
    'internal',
    ({ name, text }) => `${name}: a row is damaged: ${text}`,
  ),
  'store.not_found': reason<{ place: string; hint: string }>(
    'not_found',
    ({ place, hint }) => `There is no store at ${place}.${hint === '' ? '' : ` ${hint}`}`,
  ),
  'store.file_missing': reason<{ file: string }>(
    'store_unavailable',
    ({ file }) => `There is no store at ${file}. Name another with --db or WAKEFUL_DB.`,
  ),
  'store.schema_too_new': reason<{ name: string; number: number; schema: string; known: number }>(
    'schema_too_new',
    ({ name, number, schema, known }) =>
      `${name} has schema ${number} (${schema}), which this version of Wakeful does not know (it knows ${known}). Upgrade Wakeful.`,
  ),
  'store.unreleased_schema': reason<{ place: string; version: number; min: number; hint: string }>(
    'store_unavailable',
    ({ place, version, min, hint }) =>
      `${place} was made by an unreleased version of Wakeful (schema version ${version}; this version reads ${min} and newer). To keep its alarms, ${hint}`,
  ),
  'store.schema_changed': reason(
    'schema_too_new',
    () => 'The store was changed by a newer version than this server. The log of the server says more.',
  ),
  'store.foreign_tables': reason<{ schema: string; name: string; text: string }>(
    'store_unavailable',
    ({ schema, name, text }) =>
      `Schema ${schema} of ${name} holds tables that are not Wakeful’s. Choose another with ?schema=… in the URL (PostgreSQL: ${text}).`,
  ),
  'store.encoding': reason<{ name: string; encoding: string }>(
    'store_unavailable',
    ({ name, encoding }) =>
      `${name} stores text as ${encoding}, which cannot hold every character. Create the database with ENCODING 'UTF8'.`,
  ),
  'store.too_old': reason<{ name: string; version: number; min: number }>(
    'store_unavailable',
    ({ name, version, min }) => `${name} is PostgreSQL ${version}. Wakeful needs ${min} or newer.`,
  ),
  'store.no_wal': reason<{ name: string; mode: string }>(
    'store_unavailable',
    ({ name, mode }) => `${name}: write-ahead logging could not be switched on (journal mode is ${mode}).`,
  ),
  'store.locked': reason(
    'store_unavailable',
    () =>
      'Another transaction has locked this alarm or its key for too long. End that transaction and try again.',
  ),
  'store.driver_missing': reason(
    'store_unavailable',
    () => 'PostgreSQL needs the package pg, which is not installed: npm install pg.',
  ),
  'store.inside_transaction': reason<{ detail: string }>('invalid_request', ({ detail }) => `${detail}.`),
  'store.url': reason<{ detail: string }>('invalid_request', ({ detail }) => `${detail}.`),
  'store.url_parameter': reason<{ name: string; near: string | null; known: readonly string[] }>(
    'invalid_request',
    ({ name, near, known }) =>
      `Unknown parameter ${name} in the URL of the database. ${near === null ? `Wakeful’s own are ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  ),
  'tx.invalid': reason<{ detail: string }>('invalid_request', ({ detail }) => `tx ${detail}.`),
  'export.line': reason<{ line: number; detail: string }>(
    'invalid_request',
    ({ line, detail }) => `Line ${line} of the export: ${detail}.`,
  ),
  'export.not_one': reason(
    'invalid_request',
    () => 'This is not an export of Wakeful: its first line is missing.',
  ),
  'export.cut_off': reason<{ rows: number }>(
    'invalid_request',
    ({ rows }) =>
      `The export ends early, after ${rows} rows, which were imported. Export again and import the rest.`,
  ),
  'export.lines_missing': reason<{ what: string; count: number; found: number }>(
    'invalid_request',
    ({ what, count, found }) =>
      `The export should hold ${count} ${what}, but has ${found}. Lines are missing.`,
  ),
  'import.name_taken': reason<{ alarm: string; what: string; value: string; by: string; hint: string }>(
    'conflict',
    ({ alarm, what, value, by, hint }) =>
      `Alarm ${alarm} has the ${what} ${value}, which alarm ${by} has in this store: ${hint}.`,
  ),
  'import.owner_differs': reason<{ alarm: string }>(
    'conflict',
    ({ alarm }) => `Alarm ${alarm} is already here, and belongs to another owner.`,
  ),
  'import.calendar_missing': reason<{ alarm: string; name: string }>(
    'invalid_request',
    ({ alarm, name }) =>
      `Alarm ${alarm} names the calendar ${name}, which is neither in the export before it nor in this store. Create the calendar first.`,
  ),
  'import.alarm_missing': reason<{ event: string; alarm: string | null }>(
    'invalid_request',
    ({ event, alarm }) =>
      `Event ${event} belongs to alarm ${alarm}, which is neither in the export before it nor in this store.`,
  ),
  'backup.sqlite_only': reason(
    'invalid_request',
    () =>
      'backup copies a SQLite file. Back up a PostgreSQL database with pg_dump (--schema=wakeful for the alarms alone), or write the alarms out with export.',
  ),
  'backup.same_file': reason<{ target: string; file: string }>(
    'invalid_request',
    ({ target, file }) => `${target} is the store itself (${file}) or belongs to it. Name another file.`,
  ),
  'backup.unwritable': reason<{ file: string; detail: string }>(
    'invalid_request',
    ({ file, detail }) => `The backup cannot be written to ${file}: ${detail}`,
  ),
}

/** What a process refuses about its own setup. */
export const HOST_REASONS = {
  'host.closed': reason('store_unavailable', () => 'This Wakeful is closed. Open another.'),
  'host.clock': reason<{ part: string }>(
    'invalid_request',
    ({ part }) => `\`clock\` has no ${part}(). See VirtualClock in wakeful/testing.`,
  ),
  'secret.too_short': reason<{ from: string; length: number; min: number }>(
    'invalid_request',
    ({ from, length, min }) =>
      `${from} is ${length} characters long. Use at least ${min}, for example from \`openssl rand -base64 32\`.`,
  ),
  'secret.other': reason<{ hint: string }>(
    'invalid_request',
    ({ hint }) => `This store was first used with another secret. ${hint}.`,
  ),
  'secret.missing': reason<{ hint: string }>(
    'invalid_request',
    ({ hint }) =>
      `This store’s secret is missing, so webhooks can neither be signed nor their headers encrypted. ${hint}.`,
  ),
  'secret.unreadable': reason<{ file: string; text: string }>(
    'store_unavailable',
    ({ file, text }) => `The secret in ${file} cannot be read: ${text}`,
  ),
  'secret.unwritable': reason<{ file: string; text: string }>(
    'store_unavailable',
    ({ file, text }) =>
      `No secret could be written to ${file} (${text}). Make the folder writable, or set WAKEFUL_SECRET.`,
  ),
  'secret.sealed_otherwise': reason(
    'internal',
    () => 'It was encrypted with another secret, or for another target.',
  ),
  'secret.file': reason<{ file: string }>(
    'invalid_request',
    ({ file }) => `The secret file ${file} cannot be read. Create it, or leave --secret-file out.`,
  ),
  'listen.in_use': reason<{ address: string }>(
    'invalid_request',
    ({ address }) =>
      `${address} is used by another program, perhaps another \`wakeful serve\`. Choose another with --port.`,
  ),
  'listen.not_permitted': reason<{ address: string }>(
    'invalid_request',
    ({ address }) => `This user may not listen on ${address}. Choose a --port of 1024 or higher.`,
  ),
  'listen.failed': reason<{ address: string; text: string }>(
    'invalid_request',
    ({ address, text }) => `Cannot listen on ${address}: ${text}.`,
  ),
  'config.unreadable': reason<{ file: string; detail: string }>(
    'invalid_request',
    ({ file, detail }) => `The configuration ${file} cannot be read: ${detail}.`,
  ),
  'config.not_object': reason<{ file: string }>(
    'invalid_request',
    ({ file }) => `The configuration ${file} must be a JSON object: { "port": 7420 }.`,
  ),
  'config.unknown_setting': reason<{
    file: string
    name: string
    near: string | null
    known: readonly string[]
  }>(
    'invalid_request',
    ({ file, name, near, known }) =>
      `${file} has the unknown setting ${name}. ${near === null ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  ),
  'config.invalid': reason<{ setting: string; expected: string; value: string }>(
    'invalid_request',
    ({ setting, expected, value }) => `${setting} must be ${expected}, not ${value}.`,
  ),
  'remote.unexpected': reason<{ status: number; text: string }>(
    'internal',
    ({ status, text }) => `The server answered ${status}: ${text}.`,
  ),
  /** Wrong use of the command line: only the command line says it, in its own words. */
  usage: reason<{ detail: string }>('invalid_request', ({ detail }) => detail),
  /** A fault of Wakeful's own. Callers over the network see no details. */
  internal: reason<{ detail: string }>('internal', ({ detail }) => detail),
}
