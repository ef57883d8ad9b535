import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorText, WakefulError } from '../../../error.ts'
import { connect, nodeSqlite, storeFailure } from '../connection/index.ts'

/** Options of a backup. */
interface BackupOptions {
  /** Replace an existing file. */
  readonly replace?: boolean
  readonly onProgress?: (done: number, total: number) => void
}

const PAGES_PER_STEP = 500
/** The errors of the source file: busy, locked, corrupt, not a database. All others concern the copy. */
const SOURCE_CODES: readonly unknown[] = [5, 6, 11, 26]
/** The files beside a database that belong to it: SQLite's own, and Wakeful's side files. */
const OWN_SUFFIX = /^(?:|-wal|-shm|-journal|-clock-.*)$/

/**
 * Copies a database while it is in use, as of the moment the copy ends. The copy is written under another name and then
 * renamed, so that an interrupted one never looks complete.
 */
export async function backupTo(path: string, file: string, options: BackupOptions = {}): Promise<void> {
  const { replace = false, onProgress = () => {} } = options
  const unfinished = `${file}.unfinished`
  refuseOwnFile(path, file)
  refuseUnfit(file, replace)
  const db = connect(path)
  try {
    make(unfinished, file)
    await nodeSqlite.backup(db, unfinished, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    })
    // Checked again: another process may have opened the target during the copy.
    refuseUnfit(file, replace)
    renameSync(unfinished, file)
  } catch (thrown) {
    rmSync(unfinished, { force: true })
    const isSource = SOURCE_CODES.includes(((thrown as { errcode?: number }).errcode ?? 0) & 0xff)
    throw storeFailure(thrown, isSource ? path : `the backup ${file}`)
  } finally {
    db.close()
  }
}

/** Refuses to write to the store itself, under any of its names, or to the files beside it. */
function refuseOwnFile(path: string, file: string): void {
  if (path === ':memory:') return
  for (const target of [file, `${file}.unfinished`]) {
    if (!isOwnFile(path, target)) continue
    throw new WakefulError('backup.same_file', { target, file: path })
  }
}

function isOwnFile(path: string, file: string): boolean {
  if (isSameFile(path, file)) return true
  const [store, target] = [realPathOf(path), realPathOf(file)]
  return target.startsWith(store) && OWN_SUFFIX.test(target.slice(store.length))
}

/** By device and inode, so that hard and symbolic links count as the same file. */
function isSameFile(path: string, file: string): boolean {
  const [a, b] = [path, file].map((each) => statSync(each, { bigint: true, throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** The path without links, also of a file that does not exist yet. */
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const folder = dirname(resolve(path))
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path))
}

function refuseUnfit(file: string, replace: boolean): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) throw new WakefulError('file.is_directory', { file })
  if (found !== undefined && !replace) throw new WakefulError('file.exists', { file })
  // Its log would be replayed into the copy, or a process would go on writing to a file without a name.
  const log = ['-wal', '-journal'].map((suffix) => file + suffix).find((each) => existsSync(each))
  if (log !== undefined && !isLeftBehind(file, log)) throw new WakefulError('backup.in_use', { file, log })
}

/** Whether no process uses the log: then closing this connection, the last one, removes it. */
function isLeftBehind(file: string, log: string): boolean {
  try {
    const db = new nodeSqlite.DatabaseSync(file, { timeout: 0 })
    try {
      db.prepare('SELECT count(*) FROM sqlite_schema').get()
    } finally {
      db.close()
    }
  } catch {
    return false
  }
  return !existsSync(log)
}

/** Creates the empty file first, so that an error here is known to concern the copy. */
function make(unfinished: string, file: string): void {
  rmSync(unfinished, { force: true })
  try {
    closeSync(openSync(unfinished, 'wx', 0o600))
  } catch (cause) {
    if (!existsSync(dirname(resolve(file))))
      throw new WakefulError('file.no_folder', { file, folder: dirname(file) }, { cause })
    throw new WakefulError('backup.unwritable', { file, cause: errorText(cause) }, { cause })
  }
}
