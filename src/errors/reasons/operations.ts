import { reasons } from '../reason.ts'

/** What operators meet: stores, files, settings and this process itself. */
export const OPERATION_REASONS = reasons('invalid_request', {
  // Stores, exports and backups.
  'store.closed': 'store_unavailable: {name} is closed.',
  'store.unavailable': 'store_unavailable: The store does not answer. Try again shortly.',
  'store.not_found':
    'not_found: There is no store at {place}. Check the name, or create the store with `wakeful migrate`.',
  'store.file_missing':
    'store_unavailable: There is no store at {file}. Name another with --db or WAKEFUL_DB.',
  'store.schema_too_new':
    'schema_too_new: {name} has schema {number} ({schema}), which this version of Wakeful does not know (it knows {known}). Upgrade Wakeful.',
  'store.unreleased_schema':
    'store_unavailable: {place} was made by an unreleased version of Wakeful (schema version {version}; this version reads {min} and newer). To keep its alarms, check out commit {commit} of Wakeful’s repository, run `npm ci` and `npm run wakeful -- export --db … --out alarms.jsonl` there (--db names this store), then run `wakeful import alarms.jsonl` with this version on a new store.',
  'store.schema_changed':
    'schema_too_new: The store was changed by a newer version than this server. The log of the server says more.',
  'store.foreign_tables':
    'store_unavailable: Schema {schema} of {name} holds tables that are not Wakeful’s. Choose another with ?schema=… in the URL (PostgreSQL: {cause}).',
  'store.encoding':
    "store_unavailable: {name} stores text as {encoding}, which cannot hold every character. Create the database with ENCODING 'UTF8'.",
  'store.too_old': 'store_unavailable: {name} is PostgreSQL {version}. Wakeful needs {min} or newer.',
  'store.no_wal':
    'store_unavailable: {name}: write-ahead logging could not be switched on (journal mode is {mode}).',
  'store.locked':
    'store_unavailable: Another transaction has locked this alarm or its key for too long. End that transaction and try again.',
  'store.driver_missing':
    'store_unavailable: PostgreSQL needs the package pg, which is not installed: npm install pg.',
  'store.inside_transaction':
    'Inside a transactional handler, write through its transaction: set(…, { tx: fire.tx }), cancel(id, { tx: fire.tx }).',
  'store.rolled_back': 'internal: The transaction was rolled back. Try again.',
  'store.shards_unknown': 'internal: The shards of pool {pool} are unknown.',

  // The database's own errors, whose text is `cause`.
  'store.unexpected': 'internal: {name}: {cause}',
  'store.damaged_row': 'internal: {name}: a row is damaged: {cause}',
  'store.schema_unreadable': 'store_unavailable: {name}: the schema cannot be read ({cause})',
  'store.busy':
    'store_unavailable: {name}: another connection has kept the write lock for too long. End its transaction and try again. ({cause})',
  'store.not_writable':
    'store_unavailable: {name}: the file or its folder cannot be written. Check its permissions. ({cause})',
  'store.file_failed': 'store_unavailable: {name}: reading or writing the file failed ({cause})',
  'store.damaged': 'store_unavailable: {name}: the file is damaged. Restore it from a backup. ({cause})',
  'store.disk_full':
    'store_unavailable: {name}: the disk is full. Nothing was written, and Wakeful continues when there is space again. ({cause})',
  'store.not_openable':
    'store_unavailable: {name}: the file cannot be opened. Check that its folder exists and is writable. ({cause})',
  'store.not_a_database':
    'store_unavailable: {name}: the file is not a SQLite database. Choose another path. ({cause})',
  'store.login_refused':
    'store_unavailable: {name}: the server refuses the user or its password. Check the URL. ({cause})',
  'store.password_missing':
    'store_unavailable: {name}: the server wants a password. Put it into the URL (postgres://user:password@…, percent-encoded) or into PGPASSWORD. ({cause})',
  'store.no_tls':
    'store_unavailable: {name}: the URL requires TLS, and the server does not offer it. Enable TLS on the server, or use sslmode=disable in a network that you trust. ({cause})',
  'store.certificate':
    'store_unavailable: {name}: the server’s certificate cannot be verified. Name who signed it (?sslrootcert=ca.pem), and the host as the certificate does. ({cause})',
  'store.no_database':
    'store_unavailable: {name}: there is no such database. Create it (createdb) or check the URL. ({cause})',
  'store.not_permitted':
    'store_unavailable: {name}: the database role lacks a privilege. `wakeful doctor` prints the GRANT to run. To migrate, connect as the owner of the schema. ({cause})',
  'store.table_missing':
    'store_unavailable: {name}: a table is missing. Run `wakeful doctor` to see which. In a new schema, `wakeful migrate` creates the tables. ({cause})',
  'store.read_only':
    'store_unavailable: {name}: the server takes no writes: it is a standby, or default_transaction_read_only is on. Point the URL at the primary. ({cause})',
  'store.connections_used_up':
    'store_unavailable: {name}: the server has no connection left. Raise max_connections, run fewer processes, or use PgBouncer. ({cause})',
  'store.server_full':
    'store_unavailable: {name}: the server is out of disk space or memory. Nothing was written. ({cause})',
  'store.row_locked':
    'store_unavailable: {name}: a row has been locked by another transaction for too long. End that transaction and try again. ({cause})',
  'store.statement_timeout':
    'store_unavailable: {name}: the statement took too long and was ended (statement_timeout). Nothing was written. ({cause})',
  'store.transaction_timeout':
    'store_unavailable: {name}: a transaction was idle for too long (the process was suspended or busy) and was rolled back. Try again. ({cause})',
  'store.pooler':
    'store_unavailable: {name}: the connection goes through a pooler that does not support this. Leave ?pooler=no and ?prepare=yes out of the URL. ({cause})',
  'store.contended':
    'store_unavailable: {name}: the transaction conflicted with others several times. Try again. ({cause})',
  'store.unreachable':
    'store_unavailable: {name}: the server cannot be reached. Check that it runs and that the URL is right. ({cause})',

  // The URL of a store. It is not shown, because a password may be anywhere in it.
  'store.url': "open takes the URL of a store, such as 'sqlite:alarms.db'.",
  'store.nul_character': 'The path of the store contains a NUL character. Remove it.',
  'store.no_path': 'The store has no path. Write sqlite:alarms.db or sqlite::memory:',
  'store.sqlite_only': 'This works on SQLite only, such as sqlite:alarms.db.',
  'store.unknown_kind': ({ kind, known }: { kind: string; known: readonly string[] }) =>
    `Unknown kind of store ${kind}. Use ${known.join(' or ')}.`,
  'store.url_malformed':
    'The URL of the database cannot be read. Write postgres://user:password@host:5432/database, with / ? # @ : in a password percent-encoded.',
  'store.url_unencoded':
    'The URL of the database has a / ? or # before its host. Percent-encode them in the password (%2F, %3F, %23).',
  'store.url_value': '{name}={value} in the URL of the database must be one of {allowed}.',
  'store.schema_name': 'Schema {schema} must have 1 to 48 lower-case letters, digits and _.',
  'store.url_parameter': ({
    name,
    near,
    known,
  }: {
    name: string
    near: string | null
    known: readonly string[]
  }) =>
    `Unknown parameter ${name} in the URL of the database. ${near === null ? `Wakeful’s own are ${known.join(', ')}.` : `Did you mean ${near}?`}`,

  // Users' transactions.
  'tx.not_a_database':
    '{field} must be a node:sqlite DatabaseSync with an open transaction on the same file.',
  'tx.not_a_client': '{field} must be a pg client with an open transaction on the same database.',
  'tx.pool': '{field} is a pool. Check a client out of it (pool.connect()) and begin a transaction there.',
  'tx.closed': '{field} is closed. Open it and begin a transaction.',
  'tx.not_begun': '{field} has no open transaction. Begin one first (BEGIN).',
  'tx.failed': '{field} has a transaction that failed. Roll it back first.',
  'tx.other_file': '{field} is on {file}, but the alarms are in {store}. Open that file.',
  'tx.other_database':
    '{field} is not on the database of the alarms, which are in {name}. Connect to that database.',
  'tx.isolation':
    '{field} is a {level} transaction, which cannot see current deliveries. For keys, edits and cancels, use BEGIN ISOLATION LEVEL READ COMMITTED.',

  // Exports and backups.
  'export.not_json': 'Line {line} of the export is not JSON ({cause}).',
  'export.not_object': 'Line {line} of the export is not an object.',
  'export.nul_character': 'Line {line} of the export: a text in it contains \\u0000, which is not allowed.',
  'export.incomplete': 'Line {line} of the export: its {kind} is incomplete.',
  'export.unknown_line':
    'Line {line} of the export is not a calendar, a document, an alarm, an event, a wake or the end.',
  'export.too_new':
    'Line {line} of the export: version {version} is newer than {max}, the newest this Wakeful reads. Upgrade Wakeful.',
  'export.too_old':
    'Line {line} of the export: version {version} is older than {min}, the oldest this Wakeful reads. Export again with a newer version.',
  'export.not_one': 'This is not a Wakeful export: its first line is not an export header.',
  'export.cut_off':
    'The export ends early, after {rows} rows, which were imported. Export again and import the rest.',
  'export.lines_missing': 'The export should hold {count} {what}, but has {found}. Lines are missing.',
  'import.other_secret': {
    code: 'conflict',
    text: ({ named, more, file, used }: OtherSecret) => {
      const sealed = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
      const found =
        sealed === ''
          ? 'It has no encrypted headers, but the signatures of all its webhooks would change.'
          : `The headers of these could not be decrypted: ${sealed}. The signatures of all webhooks would change, too.`
      const advice = used
        ? 'Import into a new store (another file, another ?schema=) that has the secret of the exported one.'
        : `Import with the secret of the exported store: set WAKEFUL_SECRET${file === null ? '' : `, or copy its secret file to ${file}`}.`
      return `Nothing was imported: the export was made with another secret than this store has. ${found} ${advice} If that secret is lost, add --accept-other-secret, set those headers again, and give receivers the new secrets.`
    },
  },
  'import.key_taken':
    'conflict: Alarm {alarm} has the key {value}, which alarm {by} has in this store. Cancel that alarm and import again, or cancel the other in its own store and export again.',
  'import.idempotency_key_taken':
    'conflict: Alarm {alarm} has the idempotency key {value}, which alarm {by} has in this store, and which is kept as long as that alarm. Import into another store (another file, another ?schema=).',
  'import.owner_differs': 'conflict: Alarm {alarm} already exists in this store, under another owner.',
  'import.calendar_missing':
    'Alarm {alarm} names the calendar {name}, which is neither in the export before it nor in this store. Create the calendar first.',
  'import.alarm_missing': ({ event, alarm }: { event: string; alarm: string | null }) =>
    `Event ${event} belongs to alarm ${alarm}, which is neither in the export before it nor in this store.`,
  'backup.sqlite_only':
    'backup copies a SQLite file. Back up a PostgreSQL database with pg_dump (--schema=wakeful for the alarms alone), or write the alarms out with export.',
  'backup.same_file': '{target} is the store itself ({file}) or belongs to it. Name another file.',
  'backup.in_use': '{file} is a database in use ({log} is beside it). Name another file.',
  'backup.unwritable': 'The folder of {file} cannot be written ({cause}). Name another file.',

  // Files that a command or a call writes.
  'file.exists': ({ file }: { file: string }, words) =>
    `${file} already exists. Name a new file${words.interface === 'cli' ? ', or add --force to replace it' : ''}.`,
  'file.is_directory': '{file} is a directory. Name a file in it.',
  'file.is_database': '{file} is a database. Name another file.',
  'file.no_folder': 'There is no folder {folder} for {file}. Create it, or name another file.',

  // A process and its setup.
  'host.closed': 'store_unavailable: This Wakeful is closed. Call open again.',
  'host.clock': '{field} has no {part}(). See VirtualClock in wakeful/testing.',
  'secret.too_short':
    '{from} is {length} characters long. Use at least {min}, for example from `openssl rand -base64 32`.',
  'secret.other': ({ file }: { file: string | null }) =>
    `This store was first used with another secret. ${secretAdvice(file)}`,
  'secret.missing': ({ file }: { file: string | null }) =>
    `This store’s secret is missing, so webhooks can neither be signed nor their headers encrypted. ${secretAdvice(file)}`,
  'secret.pool_left':
    'store_unavailable: {cause} Until then this process leaves pool {pool} (webhooks and the other built-in targets) to processes that have the secret, and runs its own handlers only.',
  'secret.unreadable': 'store_unavailable: The secret in {file} cannot be read: {cause}',
  'secret.unwritable':
    'store_unavailable: No secret could be written to {file} ({cause}). Make the folder writable, or set WAKEFUL_SECRET.',
  'secret.sealed_otherwise':
    'internal: The headers were encrypted with another secret, or for another target.',
  'secret.file': 'The secret file {file} cannot be read. Create it, or leave --secret-file out.',
  'listen.in_use':
    '{address} is used by another program, perhaps another `wakeful serve`. Choose another with --port.',
  'listen.not_permitted': 'This user may not listen on {address}. Choose a --port of 1024 or higher.',
  'listen.failed': 'Cannot listen on {address}: {cause}.',
  'config.unreadable': 'The configuration {file} cannot be read: {cause}.',
  'config.not_json': 'The configuration {file} is not JSON: {cause}.',
  'config.not_object': 'The configuration {file} must be a JSON object: { "port": 7420 }.',
  'config.unknown_setting': ({
    file,
    name,
    near,
    known,
  }: {
    file: string
    name: string
    near: string | null
    known: readonly string[]
  }) =>
    `${file} has the unknown setting ${name}. ${near === null ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  'config.invalid': '{setting} must be {expected}, not {value}.',
  'remote.unexpected': {
    code: 'internal',
    text: ({ status, cause }: { status: number; cause: string }) =>
      `The server answered ${status}${cause === '' ? ' without details' : `: ${cause}`}.`,
  },
  'testing.crash_in_memory':
    'An in-memory store is lost in a crash. Use a file: openTest({ store: "sqlite:alarms.db" }).',
  /** A fault of Wakeful's own, or one that only its operator may know. */
  internal: 'internal: Internal error. The server’s log has the details.',
})

type OtherSecret = {
  readonly named: readonly string[]
  readonly more: number
  readonly file: string | null
  /** Whether the store has a secret of its own already. */
  readonly used: boolean
}

function secretAdvice(file: string | null): string {
  return `Give this process the secret that the others have: WAKEFUL_SECRET, the option \`secret\`, or the file ${file ?? 'it was created in'}.`
}
