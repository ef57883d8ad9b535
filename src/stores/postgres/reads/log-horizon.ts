import { type Serial, stepped } from '../../../alarm/index.ts'
import { wait } from '../../sharded/index.ts'
import type { Database } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** How long a reader waits for transactions that may still commit earlier events. */
const WAIT_MS_MAX = 1_000
const WAIT_MS_MIN = 2
const WAIT_STEP_MS_MAX = 50
const PAGE = 1_000
const PAGES_MAX = 10

/**
 * The position up to which the log is complete. A sequence draws its numbers before the commit, so a later event can
 * be visible before an earlier one, and a reader that went past the gap would miss it. Consecutive numbers have no
 * gap. At a gap, this finds the transactions that have a writer's lock on the log, and waits for those only.
 */
export class LogHorizon {
  readonly #database: Database
  #whole: Serial = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** No event can be added at or below this position. */
  get whole(): Serial {
    return this.#whole
  }

  /** Advances as far as possible, and waits shortly for open writers. */
  async advance(waitMs = WAIT_MS_MAX): Promise<Serial> {
    if (this.#whole > 0 && (await this.#follow())) return this.#whole
    const { session } = this.#database
    // In this order: a transaction with one of these numbers had the lock before it drew the number.
    const newest = (await session.row(sql.newestSeq))![0] as Serial
    let open = await this.#writers()
    for (let [waited, step] = [0, WAIT_MS_MIN]; open.size > 0; step = Math.min(2 * step, WAIT_STEP_MS_MAX)) {
      if (waited >= waitMs) return this.#whole
      await wait(this.#database.timers, step)
      waited += step
      open = (await this.#writers()).intersection(open)
    }
    // Only visible events count: after a crash, a number that was never committed may be drawn again.
    const last = (await session.row(sql.lastEvent, newest))?.[0] as Serial | undefined
    if (last !== undefined && last > this.#whole) this.#whole = last
    return this.#whole
  }

  /** Whether the end was reached without a gap. */
  async #follow(): Promise<boolean> {
    for (let page = 0; page < PAGES_MAX; page++) {
      const rows = await this.#database.session.rows(sql.eventSeqs, this.#whole, PAGE)
      for (const [seq] of rows) {
        if (seq !== stepped(this.#whole, 1)) return false
        this.#whole = seq as Serial
      }
      if (rows.length < PAGE) return true
    }
    return false
  }

  async #writers(): Promise<Set<string>> {
    const rows = await this.#database.session.rows(sql.logWriters)
    return new Set(rows.map(([writer]) => writer as string))
  }
}

/** How often the log is polled for its followers: a notification per event would cost every writer. */
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
      // A number is drawn before its commit: call back again when all writers have ended.
      newest = writers.length > 0 ? -1 : (last![0] as number)
      if (hasGrown) onGrown()
    } catch {
      // Calls that need the database report the error, not the poll.
    } finally {
      isPolling = false
    }
  }
  return database.timers.every(LOG_POLL_MS, () => void poll())
}
