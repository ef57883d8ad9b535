import type { Database } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** How often the log is looked at for those who follow it: a notice per event would cost every writer. */
const LOG_POLL_MS = 200

/** Calls back when the log has grown, until the returned function is called. */
export function watchLog(database: Database, onGrown: () => void): () => void {
  let newest = -1
  let isPolling = false
  const poll = async () => {
    if (isPolling) return
    isPolling = true
    try {
      const [last, writers] = await Promise.all([
        database.session.row(sql.newestSeq),
        database.session.rows(sql.logWriters),
      ])
      const hasGrown = last![0] !== newest
      // A number is given out before its commit: it calls back once more when all writers have ended.
      newest = writers.length > 0 ? -1 : (last![0] as number)
      if (hasGrown) onGrown()
    } catch {
      // Those who need the database report the error, not the poll.
    } finally {
      isPolling = false
    }
  }
  return database.timers.every(LOG_POLL_MS, () => void poll())
}
