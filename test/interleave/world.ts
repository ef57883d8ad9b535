import pg from 'pg'
import { SteppedClock } from '../../src/stores/conformance/stepped-clock.ts'
import { forgetListeners, Gate, guard, hearAll, unguard } from './interceptor.ts'
import type { NewNote, Note } from './notes.ts'
import { told } from './notes.ts'
import { Process } from './process.ts'
import { type Actor, type Choose, type Ran, Scheduler, type Step } from './schedule.ts'
import type { Subject } from './subject.ts'

const TABLES = [
  'alarms', 'idempotency_keys', 'timers', 'outcomes', 'events', 'tallies', 'processes', 'shards', 'in_flight_batches', 'calendars',
] as const // biome-ignore format: a list
/** A deadlock is ended by the server this soon, instead of after a second. */
const DEADLOCK_MS = 30
const VACUUM_EVERY = 150

let worlds = 0

type Db = InstanceType<Subject['Database']>

/** Where schedules are run: a database of its own, processes on it, a stepped clock, and what they were answered. */
export class World {
  readonly subject: Subject
  readonly schema: string
  clock = new SteppedClock()
  notes: Note[] = []
  /** Steps of the schedule and answers, as they came. */
  story: Step[] = []
  readonly #url: string
  readonly #admin: pg.Client
  readonly #gates = new Map<string, Gate>()
  readonly #databases = new Map<string, Db>()
  readonly #guests = new Map<string, pg.Client>()
  #processes = new Map<string, Process>()
  #resets = 0

  constructor(url: string, subject: Subject) {
    worlds += 1
    this.schema = `w${process.pid}_${worlds}`
    this.subject = subject
    this.#url = url
    this.#admin = new pg.Client({ connectionString: url })
  }

  /** Makes the tables; `ddl` spoils them on purpose. */
  async open(ddl?: string): Promise<void> {
    await this.#admin.connect()
    const settings = { deadlock_timeout: `${DEADLOCK_MS}ms`, synchronous_commit: 'off', jit: 'off' }
    const [{ name }] = (await this.#admin.query('SELECT current_database() AS name')).rows as [
      { name: string },
    ]
    for (const [setting, value] of Object.entries(settings))
      await this.#admin.query(`ALTER DATABASE "${name}" SET ${setting} = '${value}'`)
    const database = this.#database('setup')
    await this.subject.migrate(database, this.clock.now(), { shards: 1 })
    if (ddl !== undefined) await this.ask(ddl)
  }

  async close(): Promise<void> {
    for (const each of this.#processes.values()) await each.store.close().catch(() => {})
    for (const client of this.#guests.values()) await client.end()
    for (const [name, database] of this.#databases) {
      unguard(this.#applicationName(name))
      await database.close().catch(() => {})
    }
    await this.#admin.query(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`)
    await this.#admin.end()
  }

  /** Runs a statement of the harness's own; `wakeful.` stands for the schema. */
  async ask(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#admin.query(text.replaceAll('wakeful.', `${this.schema}.`), [...values])).rows
  }

  /** Empties the tables and forgets the processes: the next schedule begins like the one before. */
  async reset(): Promise<void> {
    for (const gate of this.#gates.values()) {
      gate.isShut = false
      gate.reset()
      gate.lockTimeoutMs = PATIENT_MS
    }
    const listening = [...this.#processes].filter(([, { store }]) => this.#listens.has(store))
    for (const [name, { store }] of listening) {
      await store.close()
      forgetListeners(this.#applicationName(name))
      this.#databases.delete(name)
    }
    this.#processes = new Map()
    this.clock = new SteppedClock()
    this.notes = []
    this.story = []
    await this.ask(TABLES.map((table) => `DELETE FROM wakeful.${table}`).join(';'))
    this.#resets += 1
    if (this.#resets % VACUUM_EVERY === 0)
      for (const table of TABLES) await this.ask(`VACUUM wakeful.${table}`)
  }

  readonly #listens = new WeakSet<object>()

  /** Lets a process hear what others tell. */
  async watch(process: Process, onNews: (news: string) => void): Promise<void> {
    this.#listens.add(process.store)
    const heard = Promise.withResolvers<void>()
    process.store.onChange((news) => {
      heard.resolve()
      onNews(news)
    })
    await heard.promise
    // It reads the calendars when it begins to listen: that is over before a schedule begins.
    await new Promise((resolve) => setTimeout(resolve, 5))
    await process.store.readCalendars()
  }

  /** Waits until everybody has heard what was told. */
  async hear(): Promise<void> {
    for (const name of this.#processes.keys()) await hearAll(this.#applicationName(name))
  }

  /** A process by name; made when it is first asked for. Its connections are there before it is put behind its gate. */
  async process(name: string): Promise<Process> {
    const known = this.#processes.get(name)
    if (known !== undefined) return known
    const database = this.#database(name)
    const gate = this.#gates.get(name)!
    const options = { url: this.#url, clock: this.clock, clockIsAuthority: true }
    const store = new this.subject.PostgresStore(database, options, 1)
    await Promise.all([store.getMeta('a'), store.getMeta('b')])
    const never = (reason: string): never => {
      throw new Error(reason)
    }
    const bench = new this.subject.Harness({ store, peer: 'not here', transact: true }, this.clock, never)
    const made = new Process(name, bench, gate, (note) => this.#note(name, note))
    this.#processes.set(name, made)
    return made
  }

  /** A connection of a user's own beside a process, behind the same gate. */
  async guest(name: string): Promise<pg.Client> {
    let client = this.#guests.get(name)
    if (client === undefined) {
      client = new pg.Client({ connectionString: this.#url, application_name: this.#applicationName(name) })
      await client.connect()
      this.#guests.set(name, client)
    }
    return client
  }

  /** How long the store's own bounds on waits for locks really last. */
  lockTimeout(ms: number): void {
    for (const gate of this.#gates.values()) gate.lockTimeoutMs = ms
  }

  /** Runs actors by a schedule. */
  async run(actors: readonly Actor[], choose: Choose): Promise<Ran> {
    const gates = [...this.#gates.values()]
    const restoreRandom = oneSlotOfTallies()
    try {
      const scheduler = new Scheduler(
        {
          gates,
          blocked: (pids, among) => this.#blocked(pids, among),
          hearAll: () => this.hear(),
          note: (step) => this.story.push(step),
        },
        choose,
      )
      return await scheduler.run(actors)
    } finally {
      restoreRandom()
    }
  }

  #note(process: string, note: NewNote): void {
    const placed = { ...note, process, at: this.story.length, monotonic: this.clock.monotonic() } as Note
    this.notes.push(placed)
    this.story.push({ process, lane: process, what: '=>', outcome: told(placed) })
  }

  async #blocked(pids: readonly number[], among: readonly number[]): Promise<ReadonlySet<number>> {
    if (pids.length === 0) return new Set()
    const { rows } = await this.#admin.query({
      name: 'blocked',
      text: 'SELECT pid FROM unnest($1::int[]) AS pid WHERE pg_blocking_pids(pid) && $2::int[]',
      values: [pids, among],
    })
    return new Set(rows.map(({ pid }: { pid: number }) => pid))
  }

  #database(name: string): Db {
    const known = this.#databases.get(name)
    if (known !== undefined) return known
    const gate = this.#gates.get(name) ?? new Gate(name)
    gate.now = () => this.clock.now()
    gate.terminate = async (pid) => {
      await this.#admin.query('SELECT pg_terminate_backend($1)', [pid])
    }
    this.#gates.set(name, gate)
    const applicationName = this.#applicationName(name)
    guard(applicationName, gate)
    const url = new URL(this.#url)
    url.searchParams.set('application_name', applicationName)
    const database = new this.subject.Database({ url: url.href, schema: this.schema, connectionsMax: 4 })
    this.#databases.set(name, database)
    return database
  }

  #applicationName(name: string): string {
    return `${this.schema}_${name}`
  }
}

/** Waits for locks have no end but the schedule's own. */
const PATIENT_MS = 60_000

/** All writers add to the same row of figures, so that they meet there whenever they can. */
function oneSlotOfTallies(): () => void {
  const { random } = Math
  Math.random = () => random() / 8
  return () => {
    Math.random = random
  }
}
