import { type Serial, stepped } from '../../../alarm/index.ts'
import { wait } from '../../sharded/index.ts'
import type { Database } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** How long a reader waits for those who may still commit earlier events. */
const WAIT_MS_MAX = 1_000
const WAIT_MS_MIN = 2
const WAIT_STEP_MS_MAX = 50
const PAGE = 1_000
const PAGES_MAX = 10

/**
 * Up to where the log is whole. Numbers are given out before the commit, so that a later one may be seen before an
 * earlier one: a reader that went on past the gap would miss it. As long as Serials follow each other there is no gap; at
 * one, those who hold a writer's lock on the log are asked for by name, and waited for, nobody else (hazard 8).
 */
export class LogHorizon {
  readonly #database: Database
  #whole: Serial = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** Up to here nothing can be added any more. */
  get whole(): Serial {
    return this.#whole
  }

  /** Moves on as far as it can be known, waiting a little for open writers. */
  async advance(waitMs = WAIT_MS_MAX): Promise<Serial> {
    if (this.#whole > 0 && (await this.#follow())) return this.#whole
    const { session } = this.#database
    // In this order: who has one of these numbers held the lock before.
    const newest = (await session.row(sql.newestSeq))![0] as Serial
    let open = await this.#writers()
    for (let [waited, step] = [0, WAIT_MS_MIN]; open.size > 0; step = Math.min(2 * step, WAIT_STEP_MS_MAX)) {
      if (waited >= waitMs) return this.#whole
      await wait(this.#database.timers, step)
      waited += step
      open = (await this.#writers()).intersection(open)
    }
    // As far as can be seen: a number that was given out and never committed may be given out again after a crash.
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
