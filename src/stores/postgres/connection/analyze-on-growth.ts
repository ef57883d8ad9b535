import type { Database } from './database.ts'

const FIRST = 200
const FACTOR = 10

const TABLES = ['alarms', 'timers', 'outcomes', 'events', 'idempotency_keys'].map(
  (table) => `wakeful.${table}`,
)
const ANALYZE = `ANALYZE ${TABLES.join(', ')}`
/** The number of alarms when their table was last analyzed. */
const KNOWN = `SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'wakeful.alarms'::regclass`

/**
 * Runs ANALYZE when the tables have grown tenfold. A plan is kept until then, and one that was made for an empty
 * table reads the whole of a full one; autovacuum comes once a minute at best. ANALYZE takes up to a second of the
 * server's time, so a process that starts on tables with statistics does not run it.
 */
export class Growth {
  readonly #database: Database
  #rows = 0
  #next = FIRST

  constructor(database: Database) {
    this.#database = database
  }

  /** Notes the number of rows that were written. */
  note(rows: number): void {
    this.#rows += rows
    if (this.#rows < this.#next) return
    while (this.#next <= this.#rows) this.#next *= FACTOR
    // A role without the right gets a warning; the owner's autovacuum will analyze.
    void this.#look(this.#rows).catch(() => {})
  }

  async #look(written: number): Promise<void> {
    const { session } = this.#database
    const [known] = (await session.row(KNOWN))!
    if (written >= (known as number) * (FACTOR - 1)) await session.run(ANALYZE)
  }
}
