import type pg from 'pg'
import type { QueryArrayConfig, QueryArrayResult } from 'pg'
import { WakefulError } from '../../../error.ts'
import { realTimers, type Timers } from '../../sharded/index.ts'
import { addressOf, hasPooler } from './address.ts'
import { type Driver, loadDriver } from './driver.ts'
import { isBroken, isContention, storeFailure } from './errors.ts'
import { boundOf, checkOut, clientClass, Dialect, endAll, hangUp, type Querying, Session } from './session.ts'

/** How a database is reached. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`; `?schema=`, `?pooler=` and `?prepare=` are read here. */
  readonly url: string
  /** The schema of Wakeful's tables (`wakeful`). */
  readonly schema?: string
  /** Connections for everything but transactional handlers (8), and for those (4). */
  readonly connectionsMax?: number
  readonly handlerConnectionsMax?: number
  /** The timeout of a statement (10 s), and of getting a connection (10 s). */
  readonly statementTimeoutMs?: number
  readonly connectTimeoutMs?: number
  /** Timers of the store (Node's). */
  readonly timers?: Timers
}

const CONNECTIONS_MAX = 8
const HANDLER_CONNECTIONS_MAX = 4
/** The most connections of a process, with the one that listens. */
export const CONNECTIONS_PER_PROCESS = CONNECTIONS_MAX + HANDLER_CONNECTIONS_MAX + 1
/** Every statement uses an index: one that takes longer waits for something that does not come. */
const STATEMENT_TIMEOUT_MS = 10_000
/** The server ends a statement in time; without an answer by then, the connection is half open. */
const ANSWER_MARGIN_MS = 2_000
const CONNECT_TIMEOUT_MS = 10_000
/** A process that stops within a transaction must not keep its locks: a takeover waits for them. */
export const IDLE_IN_TRANSACTION_MS = 4_000
const ATTEMPTS_MAX = 8

/**
 * Every statement is planned once, for all values, and uses an index; queries.test.ts checks each plan. Otherwise
 * arrays of a new length are planned again each time, which takes longer than running them, and a plan made for a
 * small table reads the whole of a large one (analyze-on-growth.ts).
 */
const PLANS = 'SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off'
/** The settings that the statements rely on, whatever the database's defaults are. */
const DEFAULTS = `SET default_transaction_isolation = 'read committed'; SET array_nulls = on`

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'
/** For several statements with one snapshot. */
const BEGIN_READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'
/** The same, and the timeouts, for one transaction: behind a pooler, a longer setting would apply to others too. */
const LOCAL_SETTINGS = `SELECT set_config('statement_timeout', $1, true),
  set_config('idle_in_transaction_session_timeout', $2, true), set_config('enable_seqscan', 'off', true),
  set_config('jit', 'off', true), set_config('array_nulls', 'on', true)`

/** The connections to one database: a bounded pool, and a separate one for handlers, which use theirs for long. */
export class Database {
  readonly dialect: Dialect
  /** The schema's unquoted name. */
  readonly schema: string
  /** Its name in messages: without the password. */
  readonly name: string
  /** Runs single statements, each on any free connection. */
  readonly session: Session
  /** Whether a pooler is in between, which uses a different server connection per transaction. */
  readonly isPooled: boolean
  readonly timers: Timers
  readonly #isNamed: boolean
  readonly #statementTimeoutMs: number
  readonly #answerMsMax: number
  readonly #connectTimeoutMs: number
  readonly #Client: typeof pg.Client
  readonly #config: pg.ClientConfig
  readonly #pool: pg.Pool
  readonly #handlers: pg.Pool
  readonly #clients = new Set<pg.Client>()
  #closed = false

  /** Loads `pg`, and detects a pooler unless the URL says it. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const { url, pooler } = addressOf(options)
    const driver = await loadDriver()
    try {
      const { timers = realTimers, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
      return new Database(driver, options, pooler ?? (await hasPooler(driver, url, timers, connectTimeoutMs)))
    } catch (thrown) {
      throw storeFailure(thrown, nameOf(url))
    }
  }

  constructor(driver: Driver, options: DatabaseOptions, isPooled = false) {
    const { url, schema, prepare } = addressOf(options)
    this.isPooled = isPooled
    this.timers = options.timers ?? realTimers
    this.#isNamed = prepare ?? !isPooled
    this.schema = schema
    this.name = nameOf(url)
    this.dialect = new Dialect(schema)
    const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
    this.#statementTimeoutMs = statementTimeoutMs
    this.#answerMsMax = statementTimeoutMs + ANSWER_MARGIN_MS
    this.#connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
    this.#Client = clientClass(driver, this.timers, this.#connectTimeoutMs)
    this.#config = {
      connectionString: url.href,
      application_name: url.searchParams.get('application_name') ?? 'wakeful',
      // A pooler refuses settings that it does not know.
      ...(!isPooled && { statement_timeout: statementTimeoutMs }),
      keepAlive: true,
    }
    const max = options.connectionsMax ?? CONNECTIONS_MAX
    this.#pool = new driver.Pool({
      ...this.#config,
      Client: this.#Client,
      max,
      pipeline: true,
      ...(!isPooled && { idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS }),
    })
    this.#handlers = new driver.Pool({
      ...this.#config,
      Client: this.#Client,
      max: options.handlerConnectionsMax ?? HANDLER_CONNECTIONS_MAX,
    })
    if (!isPooled)
      this.#pool.on('connect', (client) => void client.query(`${PLANS}; ${DEFAULTS}`).catch(() => {}))
    for (const pool of [this.#pool, this.#handlers]) {
      // A connection that breaks while idle is replaced at its next use.
      pool.on('error', () => {})
      pool.on('connect', (client) => this.#meet(client))
      pool.on('remove', (client) => this.#clients.delete(client))
    }
    this.session = new Session(
      { query: (config) => this.#queryAnywhere(config) },
      this.dialect,
      this.#isNamed,
    )
  }

  /** Runs work in one transaction; retries it after contention. */
  async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(work)
      } catch (thrown) {
        if (!isContention(thrown) || attempt >= ATTEMPTS_MAX) throw thrown
      }
    }
  }

  /** Runs several reads with one snapshot. */
  async inSnapshot<T>(read: (session: Session) => Promise<T>): Promise<T> {
    this.assertOpen()
    const client = await this.#checkOut(this.#pool)
    const session = this.#begun(client, BEGIN_READING)
    let isSpoilt = false
    try {
      return await read(session)
    } catch (thrown) {
      const first = session.cause(thrown)
      isSpoilt = isBroken(first)
      throw first
    } finally {
      // The end of a read needs no answer: the caller does not wait for it.
      if (isSpoilt) release(client, true)
      else void rolledBack(session).then((isOver) => release(client, !isOver))
    }
  }

  /** Runs work with a separate connection and an open transaction, which the work ends, or which is rolled back. */
  async handler<T>(work: (session: Session, client: pg.PoolClient) => Promise<T>): Promise<T> {
    this.assertOpen()
    const client = await this.#checkOut(this.#handlers)
    // Only Wakeful's own statements have a timeout here: a handler's may take as long as it needs.
    const session = this.#sessionOn(client)
    // The handler may still have the client: it must not write into the next transaction on this connection.
    let isSpoilt = true
    try {
      await session.plain(BEGIN)
      const answer = await work(session, client)
      isSpoilt = client.getTransactionStatus() !== 'I'
      return answer
    } catch (thrown) {
      throw session.cause(thrown)
    } finally {
      release(client, isSpoilt)
    }
  }

  /** A connection for exclusive use. */
  dedicated(): pg.Client {
    return new this.#Client(this.#config)
  }

  /** A user's own connection as a session; it prepares nothing there. */
  userSession(client: Querying): Session {
    return new Session(client, this.dialect, false)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const ended = Promise.all([this.#pool.end(), this.#handlers.end()])
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    for (const pool of [this.#pool, this.#handlers])
      pool.on('remove', () => this.#clients.size === 0 && resolve())
    if (this.#clients.size === 0) resolve()
    await endAll(this.timers, Promise.all([ended, gone]), () => this.#clients)
    await ended
  }

  assertOpen(): void {
    if (this.#closed) throw new WakefulError('store.closed', { name: this.name })
  }

  /** The error for the user. */
  failure(thrown: unknown): unknown {
    return storeFailure(thrown, this.name)
  }

  #meet(client: pg.Client): void {
    this.#clients.add(client)
    // While it is in use, the pool has no error listener, and an error would end the process. Its statements report
    // the error.
    client.on('error', () => {})
  }

  /** A session whose transaction begins with its first statements: BEGIN is not awaited. */
  #begun(client: pg.PoolClient, begin: string): Session {
    const session = this.#sessionOn(client)
    session.beginLater(begin)
    if (this.isPooled)
      session.send(LOCAL_SETTINGS, String(this.#statementTimeoutMs), String(IDLE_IN_TRANSACTION_MS))
    return session
  }

  #sessionOn(client: pg.PoolClient): Session {
    const bound = boundOf(this.timers, client, this.#answerMsMax)
    return new Session(client as Querying, this.dialect, this.#isNamed, bound)
  }

  #checkOut(pool: pg.Pool): Promise<pg.PoolClient> {
    return checkOut(this.timers, pool, this.#connectTimeoutMs)
  }

  /** Runs a statement on any free connection. */
  async #queryAnywhere(config: QueryArrayConfig): Promise<QueryArrayResult<unknown[]>> {
    const client = await this.#checkOut(this.#pool)
    let isSpoilt = false
    try {
      return await boundOf(this.timers, client, this.#answerMsMax)(client.query(config))
    } catch (thrown) {
      isSpoilt = isBroken(thrown)
      throw thrown
    } finally {
      release(client, isSpoilt)
    }
  }

  async #once<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.assertOpen()
    const client = await this.#checkOut(this.#pool)
    const session = this.#begun(client, BEGIN)
    let isSpoilt = false
    try {
      const answer = await work(session)
      await commit(session)
      return answer
    } catch (thrown) {
      const first = session.cause(thrown)
      isSpoilt = isBroken(first) || !(await rolledBack(session))
      throw first
    } finally {
      release(client, isSpoilt)
    }
  }
}

/** Returns a connection; a broken one is closed without waiting. */
function release(client: pg.PoolClient, isSpoilt: boolean): void {
  client.release(isSpoilt)
  if (isSpoilt) hangUp(client)
}

/** Sends COMMIT after everything that is under way. */
export async function commit(session: Session): Promise<void> {
  if (session.sendOnly()) return session.acknowledged()
  const committed = session.plain('COMMIT')
  committed.catch(() => {})
  await session.acknowledged()
  // PostgreSQL answers the commit of a failed transaction with ROLLBACK.
  if ((await committed) !== 'COMMIT') throw new WakefulError('store.rolled_back', {})
}

async function rolledBack(session: Session): Promise<boolean> {
  try {
    await session.plain('ROLLBACK')
    return true
  } catch {
    return false
  }
}

function nameOf(url: URL): string {
  return `${url.host}${url.pathname}`
}
