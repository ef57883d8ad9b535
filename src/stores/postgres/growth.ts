import type { Database } from './database.ts'

const FIRST = 200
const FACTOR = 10

const ANALYZE =
  'ANALYZE wakeful.alarms, wakeful.timers, wakeful.outcomes, wakeful.events, wakeful.idempotency_keys'

/**
 * Has the tables looked at again when they have grown tenfold. A plan is kept until then, and one that was made for an
 * empty table reads all of a full one: autovacuum, which would look too, comes by once a minute at best.
 */
export class Growth {
  readonly #database: Database
  #rows = 0
  #next = FIRST

  constructor(database: Database) {
    this.#database = database
  }

  /** Notes that so many rows were written. */
  note(rows: number): void {
    this.#rows += rows
    if (this.#rows < this.#next) return
    while (this.#next <= this.#rows) this.#next *= FACTOR
    // A role that may not is told so by a warning; its owner's autovacuum will do it.
    void this.#database.session.run(ANALYZE).catch(() => {})
  }
}
