import pg from 'pg'
import { WakefulError } from '../../error.ts'
import { isBroken, isContention, storeFailure } from './failure.ts'
import { endAll, hangUp } from './hang-up.ts'
import { Dialect, type Querying, Session } from './session.ts'

/** How a database is reached. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`; `?schema=` names the schema. */
  readonly url: string
  /** The schema of Wakeful's tables (`wakeful`). */
  readonly schema?: string
  /** Connections for everything but transactional handlers (8), and for those (4). */
  readonly connectionsMax?: number
  readonly handlerConnectionsMax?: number
  /** How long a statement may take (30 s), and how long a connection is waited for (10 s). */
  readonly statementTimeoutMs?: number
  readonly connectTimeoutMs?: number
  /** How long the clock's own statements are waited for before their connection is taken for half open (10 s). */
  readonly promptMs?: number
}

const CONNECTIONS_MAX = 8
const HANDLER_CONNECTIONS_MAX = 4
const STATEMENT_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
/** A process that is stopped within a transaction must not keep its locks: others wait for them to take over. */
const IDLE_IN_TRANSACTION_MS = 10_000
/** The server ends a statement in its time: when nothing comes for longer, the connection is half open. */
const ANSWER_MARGIN_MS = 5_000
/** What the clock itself waits for is brief: an owner must not stand still for longer because of a half-open connection. */
const PROMPT_MS = 10_000
const TRIES_MAX = 8

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** The connections to one database: a bounded pool, and one apart for handlers, which keep theirs for long. */
export class Database {
  readonly dialect: Dialect
  /** The schema's plain name. */
  readonly schema: string
  /** What messages call it: without the password. */
  readonly name: string
  /** Runs single statements, each on whatever connection is free. */
  readonly session: Session
  /** The same for what is answered promptly or not at all. */
  readonly prompt: Session
  readonly #config: pg.ClientConfig
  readonly #pool: pg.Pool
  readonly #handlers: pg.Pool
  readonly #clients = new Set<pg.Client>()
  readonly #promptMs: number
  #closed = false

  constructor(options: DatabaseOptions) {
    const { url, schema } = addressOf(options)
    const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
    this.#promptMs = options.promptMs ?? PROMPT_MS
    this.schema = schema
    this.name = `${url.host}${url.pathname}`
    this.dialect = new Dialect(schema)
    this.#config = {
      connectionString: url.href,
      application_name: url.searchParams.get('application_name') ?? 'wakeful',
      connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
      keepAlive: true,
    }
    const max = options.connectionsMax ?? CONNECTIONS_MAX
    this.#pool = new pg.Pool({
      ...this.#config,
      max,
      pipeline: true,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    })
    this.#handlers = new pg.Pool({
      ...this.#config,
      max: options.handlerConnectionsMax ?? HANDLER_CONNECTIONS_MAX,
    })
    for (const pool of [this.#pool, this.#handlers]) {
      // A connection that breaks while nobody uses it is replaced when somebody does.
      pool.on('error', () => {})
      pool.on('connect', (client) => this.#meet(client))
      pool.on('remove', (client) => this.#clients.delete(client))
    }
    this.session = new Session(this.#pool as Querying, this.dialect)
    this.prompt = new Session(this.#pool as Querying, this.dialect, true, this.#promptMs)
  }

  /** Runs work in one transaction; again, where another was in the way. */
  async transaction<T>(work: (session: Session) => Promise<T>, isPrompt = false): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(work, isPrompt)
      } catch (thrown) {
        if (!isContention(thrown) || tries >= TRIES_MAX) throw thrown
      }
    }
  }

  /** Runs work with a connection of its own and an open transaction, which it ends itself or which is rolled back. */
  async handler<T>(work: (session: Session, client: pg.PoolClient) => Promise<T>): Promise<T> {
    this.assertOpen()
    const client = await this.#handlers.connect()
    // Whoever was given it may still hold it: it must not write into the next one's transaction.
    let isSpoilt = true
    try {
      const session = new Session(client as Querying, this.dialect)
      await session.plain(BEGIN)
      const answer = await work(session, client)
      isSpoilt = client.getTransactionStatus() !== 'I'
      return answer
    } finally {
      release(client, isSpoilt)
    }
  }

  /** A connection that belongs to nobody else. */
  dedicated(queryTimeoutMs: number): pg.Client {
    return new pg.Client({ ...this.#config, query_timeout: queryTimeoutMs })
  }

  /** A user's own connection as a session; it prepares nothing there. */
  guest(client: Querying): Session {
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
    await endAll(Promise.all([ended, gone]), () => this.#clients)
    await ended
  }

  assertOpen(): void {
    if (this.#closed) throw new WakefulError('store_unavailable', `${this.name} is closed`)
  }

  /** The error a user gets. */
  failure(thrown: unknown): unknown {
    return storeFailure(thrown, this.name)
  }

  #meet(client: pg.Client): void {
    this.#clients.add(client)
    // While it is in use the pool does not listen: it would end the process. Whoever uses it is told by its statement.
    client.on('error', () => {})
  }

  async #once<T>(work: (session: Session) => Promise<T>, isPrompt: boolean): Promise<T> {
    this.assertOpen()
    const client = await this.#pool.connect()
    const session = new Session(client as Querying, this.dialect, true, isPrompt ? this.#promptMs : undefined)
    let isSpoilt = false
    try {
      // Not waited for: it travels with the first statement.
      session.send(BEGIN)
      const answer = await work(session)
      await commit(session)
      return answer
    } catch (thrown) {
      // After the first that failed, all others only say that the transaction has.
      const first = await session.landed().then(
        () => thrown,
        (failed: unknown) => failed,
      )
      isSpoilt = isBroken(first) || !(await rolledBack(session))
      throw first
    } finally {
      release(client, isSpoilt)
    }
  }
}

/** Gives a connection back; one that cannot be used again is closed, not waited for. */
function release(client: pg.PoolClient, isSpoilt: boolean): void {
  client.release(isSpoilt)
  if (isSpoilt) hangUp(client)
}

/** Sends the commit behind everything that is under way. */
export async function commit(session: Session): Promise<void> {
  const committed = session.plain('COMMIT')
  committed.catch(() => {})
  await session.landed()
  // PostgreSQL answers the commit of a failed transaction with its rollback.
  if ((await committed) !== 'COMMIT') throw new WakefulError('internal', 'the transaction was rolled back')
}

async function rolledBack(session: Session): Promise<boolean> {
  try {
    await session.plain('ROLLBACK')
    return true
  } catch {
    return false
  }
}

function addressOf({ url: text, schema }: DatabaseOptions): { url: URL; schema: string } {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new WakefulError(
      'invalid_request',
      'the URL of the database cannot be read: write postgres://user:password@host:5432/database',
      { cause },
    )
  }
  const named = schema ?? url.searchParams.get('schema') ?? 'wakeful'
  url.searchParams.delete('schema')
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(named)) {
    throw new WakefulError(
      'invalid_request',
      `schema ${JSON.stringify(named)} must be lower-case letters, digits and _, at most 48`,
    )
  }
  return { url, schema: named }
}
