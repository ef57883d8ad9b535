import { existsSync } from 'node:fs'
import { contextMaker } from '../../alarm/index.ts'
import { errorText, WakefulError } from '../../error.ts'
import {
  type Check,
  check,
  type Migrated,
  type PortableLine,
  type PortableRow,
  parsePortable,
  portableText,
  type SecretJudge,
} from '../../stores/index.ts'
import {
  backupTo,
  connect,
  examine,
  migrate,
  migrationSql,
  openSqlite,
  type SqliteStore,
  schemaVersion,
} from '../../stores/sqlite/index.ts'
import { ImportSecret } from './import-secret.ts'
import { findSecret, type SecretPlace, secretProblem } from './keyring.ts'
import { isPostgres, loadPostgres, secretPath, storeFile, storePath } from './store-url.ts'
import { systemClock } from './system-clock.ts'

/** The progress of a long operation. */
export type Progress = (done: number, total: number) => void

const IMPORT_BATCH = 500
const KINDS = ['alarm', 'event', 'calendar', 'document', 'wake', 'damaged', 'wakeful', 'end'] as const
/** The kinds of lines that the last line counts. */
const KINDS_IN_END = ['alarm', 'event', 'document', 'wake'] as const

/** The number of lines of an export by their kind, which is the name that each begins with. */
export type LineCounts = Record<(typeof KINDS)[number], number>

/** No lines yet. */
export function noLines(): LineCounts {
  return Object.fromEntries(KINDS.map((kind) => [kind, 0])) as LineCounts
}

function addLine(counts: LineCounts, line: PortableLine): void {
  const kind = KINDS.find((each) => each in line)
  if (kind !== undefined) counts[kind] += 1
}

/** Everything in a store, as versioned JSON lines, which are also counted. */
export async function* exportLines(
  url: string,
  counts: LineCounts = noLines(),
  onProgress: Progress = () => {},
): AsyncGenerator<string> {
  const store = await openToRead(url)
  try {
    let total = 0
    for await (const line of store.export()) {
      addLine(counts, line)
      if ('wakeful' in line) total = line.alarms + line.events
      onProgress(counts.alarm + counts.event, total)
      yield portableText(line)
    }
  } finally {
    await store.close()
  }
}

/** A store that can be exported and imported. */
type WholeStore = Pick<SqliteStore, 'export' | 'import' | 'getMeta' | 'putMeta' | 'close'>

async function openWhole(url: string): Promise<WholeStore> {
  if (isPostgres(url)) return (await loadPostgres()).openPostgres({ url, clock: systemClock })
  return openSqlite({ path: storePath(url), clock: systemClock })
}

/** The same, without creating a store. */
async function openToRead(url: string): Promise<WholeStore> {
  if (isPostgres(url)) await (await loadPostgres()).assertPostgresStore(url)
  else existing(url)
  return openWhole(url)
}

/** The result of an import. Existing rows are skipped, so that an import can be repeated or resumed. */
export interface Imported {
  readonly imported: number
  readonly known: number
}

/** How an export is imported. */
export interface ImportOptions {
  /** The master secret; otherwise that in the file beside the store. */
  readonly secret?: string | undefined
  /** Imports although the store has another secret, so that encrypted headers cannot be opened. */
  readonly acceptOtherSecret?: boolean
}

/** Imports the lines of an export into a store, and counts them. */
export async function importLines(
  url: string,
  lines: AsyncIterable<string>,
  counts: LineCounts = noLines(),
  onProgress: Progress = () => {},
  { secret: configured, acceptOtherSecret = false }: ImportOptions = {},
): Promise<Imported> {
  const store = await openWhole(url)
  const fill = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)
  const context = contextMaker({ clock: systemClock, graceMs: 0, random: Math.random, fill })
  const secret = new ImportSecret({ configured, path: secretPath(url) })
  let batch: PortableRow[] = []
  let [imported, seen, total] = [0, 0, 0]
  const flush = async () => {
    imported += await store.import(batch, context())
    seen += batch.length
    batch = []
    onProgress(seen, total)
  }
  try {
    let last: PortableLine | null = null
    let number = 0
    for await (const text of lines) {
      number += 1
      if (text.trim() === '') continue
      const line = parsePortable(text, number)
      last = line
      if (number === 1 && !('wakeful' in line)) throw new WakefulError('export.not_one', {})
      addLine(counts, line)
      if ('wakeful' in line) {
        total = line.alarms + line.events
        if (!acceptOtherSecret) await secret.compare(line, store)
      } else if (secret.isOther) secret.inspect(line)
      else if (!('damaged' in line || 'end' in line)) batch.push(line)
      if (batch.length >= IMPORT_BATCH) await flush()
    }
    if (secret.isOther) throw secret.refusal()
    await flush()
    if (last === null || !('end' in last)) throw new WakefulError('export.cut_off', { rows: seen })
    for (const kind of KINDS_IN_END) {
      const what = `${kind}s` as const
      if (last[what] === counts[kind]) continue
      throw new WakefulError('export.lines_missing', { what, count: last[what], found: counts[kind] })
    }
    return { imported, known: seen - imported }
  } finally {
    await store.close()
  }
}

/** Copies a store to a file while it is in use. It never overwrites itself or another database that is in use. */
export async function backup(
  url: string,
  file: string,
  options: Parameters<typeof backupTo>[2] = {},
): Promise<void> {
  if (isPostgres(url)) throw new WakefulError('backup.sqlite_only', {})
  await backupTo(existing(url), file, options)
}

/** Updates the schema of a store. */
export async function migrateStore(url: string): Promise<Migrated> {
  if (isPostgres(url)) return (await loadPostgres()).migratePostgres(url, systemClock.now())
  const path = storePath(url)
  const db = connect(path)
  try {
    return await migrate(db, path, systemClock.now())
  } finally {
    db.close()
  }
}

/** The SQL that `migrateStore` would run; the whole schema for a new store. */
export async function migrationText(url: string): Promise<string> {
  if (isPostgres(url)) return (await loadPostgres()).missingSql(url)
  const path = storePath(url)
  if (path === ':memory:' || !existsSync(path)) return migrationSql(path, 0)
  const db = connect(path, { readOnly: true })
  try {
    return migrationSql(path, schemaVersion(db))
  } catch (cause) {
    if (cause instanceof WakefulError) throw cause
    throw new WakefulError('store.schema_unreadable', { name: path, cause: errorText(cause) }, { cause })
  } finally {
    db.close()
  }
}

/** Checks a store for problems, and whether this environment has its secret, unless that is in the file beside the store. */
export async function doctor(url: string, secret?: string): Promise<Check[]> {
  const node = { name: 'node', ok: true, detail: process.version }
  const judge = secretJudge({ configured: secret, path: secretPath(url) })
  if (!isPostgres(url)) return [node, ...examine(existing(url), systemClock.now(), judge)]
  const { examinePostgres } = await loadPostgres()
  return [node, ...(await examinePostgres(url, systemClock, undefined, judge))]
}

function secretJudge(source: SecretPlace): SecretJudge {
  return (fingerprint) => {
    const own = findSecret(source)?.fingerprint ?? null
    const problem = secretProblem(own, fingerprint, source.path)
    const detail = fingerprint === null ? 'the store has none yet' : 'this environment has the store’s'
    const advice =
      'a process that is started in this environment sends no webhooks, and `wakeful serve` refuses'
    return check('secret', problem === null, problem?.message ?? detail, advice)
  }
}

/** The file or schema of a missing store, for messages; null if there is a store. Creates nothing. */
export async function missingStorePlace(url: string): Promise<string | null> {
  if (isPostgres(url)) return (await loadPostgres()).missingStore(url)
  const file = storeFile(url)
  return file === null || existsSync(file) ? null : file
}

function existing(url: string): string {
  const file = storeFile(url)
  if (file !== null && !existsSync(file)) throw new WakefulError('store.not_found', { place: file })
  return storePath(url)
}
