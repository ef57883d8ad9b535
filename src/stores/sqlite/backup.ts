import { existsSync } from 'node:fs'
import { backup } from 'node:sqlite'
import { WakefulError } from '../../error.ts'
import { connect } from './connection.ts'
import { storeFailure } from './failure.ts'

const PAGES_PER_STEP = 500

/** Copies a database while it is in use; the copy is as of the moment it is finished. */
export async function backupTo(
  path: string,
  file: string,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  if (existsSync(file)) throw new WakefulError('invalid_request', `${file} exists already: name a new file`)
  const db = connect(path)
  try {
    await backup(db, file, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    })
  } catch (thrown) {
    throw storeFailure(thrown, path)
  } finally {
    db.close()
  }
}
