import type { Database } from './database.ts'

const FIRST = 200
const FACTOR = 10

const TABLES = ['alarms', 'timers', 'outcomes', 'events', 'idempotency_keys'].map(
  (table) => `wakeful.${table}`,
)
const ANALYZE = `ANALYZE ${TABLES.join(', ')}`
/** How many alarms there were when their table was last looked at. */
const KNOWN = `SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'wakeful.alarms'::regclass`

/**
 * Has the tables looked at again when they have grown tenfold. A plan is kept until then, and one that was made for an
 * empty table reads all of a full one: autovacuum, which would look too, comes by once a minute at best. To look takes up
 * to a second of the server's time, so a process that starts on tables that are known to be full does not ask for it.
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
    void this.#look(this.#rows).catch(() => {})
  }

  async #look(written: number): Promise<void> {
    const { session } = this.#database
    const [known] = (await session.row(KNOWN))!
    if (written >= (known as number) * (FACTOR - 1)) await session.run(ANALYZE)
  }
}
