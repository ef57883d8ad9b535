import pg from 'pg'
import { SteppedClock } from '../../src/stores/conformance/harness.ts'
import {
  flushNotices,
  forgetListeners,
  Interceptor,
  intercept,
  isListening,
  stopIntercepting,
} from './interceptor.ts'
import type { NewNote, Note } from './notes.ts'
import { describe } from './notes.ts'
import { Process } from './process.ts'
import { type Actor, type Choose, type Ran, Scheduler, type Step } from './schedule.ts'
import type { Subject } from './subject.ts'

const TABLES = [
  'alarms', 'idempotency_keys', 'timers', 'outcomes', 'events', 'tallies', 'processes', 'shards', 'in_flight_batches', 'calendars',
] as const // biome-ignore format: a list
/** The server ends deadlocks this soon, instead of after a second. */
const DEADLOCK_MS = 30
const VACUUM_EVERY = 150

let worlds = 0

type Db = InstanceType<Subject['Database']>

/** Where schedules run: a database schema, its processes, a stepped clock, and their answers. */
export class World {
  readonly subject: Subject
  readonly schema: string
  clock = new SteppedClock()
  notes: Note[] = []
  /** The steps of the schedule and the answers, in order. */
  trace: Step[] = []
  readonly #url: string
  readonly #admin: pg.Client
  readonly #interceptors = new Map<string, Interceptor>()
  readonly #databases = new Map<string, Db>()
  readonly #userConnections = new Map<string, pg.Client>()
  #processes = new Map<string, Process>()
  #resets = 0

  constructor(url: string, subject: Subject) {
    worlds += 1
    this.schema = `w${process.pid}_${worlds}`
    this.subject = subject
    this.#url = url
    this.#admin = new pg.Client({ connectionString: url })
  }

  /** Creates the tables. `ddl` changes them to plant a bug. */
  async open(ddl?: string): Promise<void> {
    await this.#admin.connect()
    const settings = { deadlock_timeout: `${DEADLOCK_MS}ms`, synchronous_commit: 'off', jit: 'off' }
    const [{ name }] = (await this.#admin.query('SELECT current_database() AS name')).rows as [
      { name: string },
    ]
    for (const [setting, value] of Object.entries(settings))
      await this.#admin.query(`ALTER DATABASE "${name}" SET ${setting} = '${value}'`)
    const database = this.#database('setup')
    await this.subject.migrate(database, this.clock.now(), 1)
    if (ddl !== undefined) await this.ask(ddl)
  }

  async close(): Promise<void> {
    for (const each of this.#processes.values()) await each.store.close().catch(() => {})
    for (const client of this.#userConnections.values()) await client.end()
    for (const [name, database] of this.#databases) {
      stopIntercepting(this.#applicationName(name))
      await database.close().catch(() => {})
    }
    await this.#admin.query(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`)
    await this.#admin.end()
  }

  /** Runs a statement of the test. `wakeful.` stands for the schema. */
  async ask(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#admin.query(text.replaceAll('wakeful.', `${this.schema}.`), [...values])).rows
  }

  /** Empties the tables and forgets the processes, so that every schedule has the same start. */
  async reset(): Promise<void> {
    for (const interceptor of this.#interceptors.values()) {
      interceptor.isActive = false
      interceptor.reset()
      interceptor.lockTimeoutMs = LONG_LOCK_TIMEOUT_MS
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
    this.trace = []
    await this.ask(TABLES.map((table) => `DELETE FROM wakeful.${table}`).join(';'))
    this.#resets += 1
    if (this.#resets % VACUUM_EVERY === 0)
      for (const table of TABLES) await this.ask(`VACUUM wakeful.${table}`)
  }

  readonly #listens = new WeakSet<object>()

  /** Lets a process receive notices. */
  async watch(process: Process, onNotice: (notice: string) => void): Promise<void> {
    this.#listens.add(process.store)
    const listening = Promise.withResolvers<void>()
    process.store.onChange((notice) => {
      listening.resolve()
      onNotice(notice)
    })
    await listening.promise
    // Otherwise `flushNotices` would wait for nothing, and schedules would depend on how fast notices arrive.
    if (!isListening(this.#applicationName(process.name)))
      throw new Error(`The interceptor has not seen ${process.name} begin to listen`)
    // It reads the calendars when it begins to listen. That must be over before a schedule begins.
    await new Promise((resolve) => setTimeout(resolve, 5))
    await process.store.readCalendars()
  }

  /** Waits until all processes received all notices. */
  async flushNotices(): Promise<void> {
    for (const name of this.#processes.keys()) await flushNotices(this.#applicationName(name))
  }

  /** A process by name, created on first use. Its connections exist before its interceptor becomes active. */
  async process(name: string): Promise<Process> {
    const known = this.#processes.get(name)
    if (known !== undefined) return known
    const database = this.#database(name)
    const interceptor = this.#interceptors.get(name)!
    const options = { url: this.#url, clock: this.clock, clockIsAuthority: true }
    const store = new this.subject.PostgresStore(database, options, 1)
    const handlerConnection = database.handler((session) => session.plain('COMMIT'))
    await Promise.all([store.getMeta('a'), store.getMeta('b'), handlerConnection])
    const never = (reason: string): never => {
      throw new Error(reason)
    }
    const bench = new this.subject.Harness({ store, peer: 'not here', transact: true }, this.clock, never)
    const made = new Process(name, bench, interceptor, (note) => this.#note(name, note))
    this.#processes.set(name, made)
    return made
  }

  /** A user's connection beside a process, with the same interceptor. */
  async userConnection(name: string): Promise<pg.Client> {
    let client = this.#userConnections.get(name)
    if (client === undefined) {
      client = new pg.Client({ connectionString: this.#url, application_name: this.#applicationName(name) })
      await client.connect()
      this.#userConnections.set(name, client)
    }
    return client
  }

  /** The real duration of the store's lock timeouts. */
  lockTimeout(ms: number): void {
    for (const interceptor of this.#interceptors.values()) interceptor.lockTimeoutMs = ms
  }

  /** Runs actors by a schedule. */
  async run(actors: readonly Actor[], choose: Choose): Promise<Ran> {
    const interceptors = [...this.#interceptors.values()]
    const restoreRandom = oneSlotOfTallies()
    try {
      const scheduler = new Scheduler(
        {
          interceptors,
          blocked: (pids, among) => this.#blocked(pids, among),
          flushNotices: () => this.flushNotices(),
          note: (step) => this.trace.push(step),
        },
        choose,
      )
      return await scheduler.run(actors)
    } finally {
      restoreRandom()
    }
  }

  #note(process: string, note: NewNote): void {
    const placed = { ...note, process, at: this.trace.length, monotonic: this.clock.monotonic() } as Note
    this.notes.push(placed)
    this.trace.push({ process, connection: process, what: '=>', outcome: describe(placed) })
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
    const interceptor = this.#interceptors.get(name) ?? new Interceptor(name)
    interceptor.now = () => this.clock.now()
    interceptor.terminate = async (pid) => {
      await this.#admin.query('SELECT pg_terminate_backend($1)', [pid])
    }
    this.#interceptors.set(name, interceptor)
    const applicationName = this.#applicationName(name)
    intercept(applicationName, interceptor)
    const url = new URL(this.#url)
    url.searchParams.set('application_name', applicationName)
    const database = new this.subject.Database(pg, { url: url.href, schema: this.schema, connectionsMax: 4 })
    this.#databases.set(name, database)
    return database
  }

  #applicationName(name: string): string {
    return `${this.schema}_${name}`
  }
}

/** Lock waits end only through the schedule. */
const LONG_LOCK_TIMEOUT_MS = 60_000

/** Makes all writers use the same tally row, so that they contend for it. */
function oneSlotOfTallies(): () => void {
  const { random } = Math
  Math.random = () => random() / 8
  return () => {
    Math.random = random
  }
}
