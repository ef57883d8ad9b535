import { type Definitions, reason } from '../reason.ts'

/** What operators meet: stores, files, settings and this process itself. */
export const OPERATION_REASONS = {
  // Stores, exports and backups.
  'store.closed': 'store_unavailable: {name} is closed.',
  'store.unavailable': 'store_unavailable: The store does not answer. Try again shortly.',
  /** `detail` says what to do, `text` is the database's own message. */
  'store.failed': 'store_unavailable: {name}: {detail} ({text})',
  'store.unexpected': 'internal: {name}: {text}',
  'store.damaged_row': 'internal: {name}: a row is damaged: {text}',
  'store.not_found': reason<{ place: string; hint: string }>(
    'not_found',
    ({ place, hint }) => `There is no store at ${place}.${hint === '' ? '' : ` ${hint}`}`,
  ),
  'store.file_missing':
    'store_unavailable: There is no store at {file}. Name another with --db or WAKEFUL_DB.',
  'store.schema_too_new':
    'schema_too_new: {name} has schema {number} ({schema}), which this version of Wakeful does not know (it knows {known}). Upgrade Wakeful.',
  'store.unreleased_schema':
    'store_unavailable: {place} was made by an unreleased version of Wakeful (schema version {version}; this version reads {min} and newer). To keep its alarms, check out commit {commit} of Wakeful’s repository, run `npm ci` and `npm run wakeful -- export --db … --out alarms.jsonl` there (--db names this store), then run `wakeful import alarms.jsonl` with this version on a new store.',
  'store.schema_changed':
    'schema_too_new: The store was changed by a newer version than this server. The log of the server says more.',
  'store.foreign_tables':
    'store_unavailable: Schema {schema} of {name} holds tables that are not Wakeful’s. Choose another with ?schema=… in the URL (PostgreSQL: {text}).',
  'store.encoding':
    "store_unavailable: {name} stores text as {encoding}, which cannot hold every character. Create the database with ENCODING 'UTF8'.",
  'store.too_old': 'store_unavailable: {name} is PostgreSQL {version}. Wakeful needs {min} or newer.',
  'store.no_wal':
    'store_unavailable: {name}: write-ahead logging could not be switched on (journal mode is {mode}).',
  'store.locked':
    'store_unavailable: Another transaction has locked this alarm or its key for too long. End that transaction and try again.',
  'store.driver_missing':
    'store_unavailable: PostgreSQL needs the package pg, which is not installed: npm install pg.',
  'store.inside_transaction': 'invalid_request: {detail}.',
  'store.url': 'invalid_request: {detail}.',
  'store.url_parameter': reason<{ name: string; near: string | null; known: readonly string[] }>(
    'invalid_request',
    ({ name, near, known }) =>
      `Unknown parameter ${name} in the URL of the database. ${near === null ? `Wakeful’s own are ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  ),
  'tx.invalid': 'invalid_request: tx {detail}.',
  'export.line': 'invalid_request: Line {line} of the export: {detail}.',
  'export.not_one': 'invalid_request: This is not an export of Wakeful: its first line is missing.',
  'export.cut_off':
    'invalid_request: The export ends early, after {rows} rows, which were imported. Export again and import the rest.',
  'export.lines_missing':
    'invalid_request: The export should hold {count} {what}, but has {found}. Lines are missing.',
  'import.name_taken':
    'conflict: Alarm {alarm} has the {what} {value}, which alarm {by} has in this store: {hint}.',
  'import.owner_differs': 'conflict: Alarm {alarm} is already here, and belongs to another owner.',
  'import.calendar_missing':
    'invalid_request: Alarm {alarm} names the calendar {name}, which is neither in the export before it nor in this store. Create the calendar first.',
  'import.alarm_missing': reason<{ event: string; alarm: string | null }>(
    'invalid_request',
    ({ event, alarm }) =>
      `Event ${event} belongs to alarm ${alarm}, which is neither in the export before it nor in this store.`,
  ),
  'backup.sqlite_only':
    'invalid_request: backup copies a SQLite file. Back up a PostgreSQL database with pg_dump (--schema=wakeful for the alarms alone), or write the alarms out with export.',
  'backup.same_file':
    'invalid_request: {target} is the store itself ({file}) or belongs to it. Name another file.',
  'backup.unwritable': 'invalid_request: The backup cannot be written to {file}: {detail}',

  // A process and its setup.
  'host.closed': 'store_unavailable: This Wakeful is closed. Open another.',
  'host.clock': 'invalid_request: `clock` has no {part}(). See VirtualClock in wakeful/testing.',
  'secret.too_short':
    'invalid_request: {from} is {length} characters long. Use at least {min}, for example from `openssl rand -base64 32`.',
  'secret.other': 'invalid_request: This store was first used with another secret. {hint}.',
  'secret.missing':
    'invalid_request: This store’s secret is missing, so webhooks can neither be signed nor their headers encrypted. {hint}.',
  'secret.unreadable': 'store_unavailable: The secret in {file} cannot be read: {text}',
  'secret.unwritable':
    'store_unavailable: No secret could be written to {file} ({text}). Make the folder writable, or set WAKEFUL_SECRET.',
  'secret.sealed_otherwise': 'internal: It was encrypted with another secret, or for another target.',
  'secret.file':
    'invalid_request: The secret file {file} cannot be read. Create it, or leave --secret-file out.',
  'listen.in_use':
    'invalid_request: {address} is used by another program, perhaps another `wakeful serve`. Choose another with --port.',
  'listen.not_permitted':
    'invalid_request: This user may not listen on {address}. Choose a --port of 1024 or higher.',
  'listen.failed': 'invalid_request: Cannot listen on {address}: {text}.',
  'config.unreadable': 'invalid_request: The configuration {file} cannot be read: {detail}.',
  'config.not_object': 'invalid_request: The configuration {file} must be a JSON object: { "port": 7420 }.',
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
  'config.invalid': 'invalid_request: {setting} must be {expected}, not {value}.',
  'remote.unexpected': 'internal: The server answered {status}: {text}.',
  /** Wrong use of the command line: only the command line says it, in its own words. */
  usage: 'invalid_request: {detail}',
  /** A fault of Wakeful's own. Callers over the network see no details. */
  internal: 'internal: {detail}',
} as const satisfies Definitions
