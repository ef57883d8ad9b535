import { createHash } from 'node:crypto'
import type {
  Client,
  ClientBase,
  CustomTypesConfig,
  Pool,
  PoolClient,
  QueryArrayConfig,
  QueryArrayResult,
} from 'pg'
import { type Serial, serialOf } from '../../../alarm/index.ts'
import type { Values } from '../../index.ts'
import type { Timers } from '../../sharded/index.ts'
import type { Driver } from './driver.ts'
import { isAborted } from './errors.ts'

/** A value that can be bound; arrays are for `unnest`. */
export type Bindable = Scalar | readonly Scalar[]
type Scalar = string | Serial | null

/** Rows as one array per column; there is at least one row. */
export function columns(rows: readonly (readonly Scalar[])[]): Bindable[] {
  return rows[0]!.map((_, column) => rows.map((row) => row[column]!))
}

/** Some properties of objects, as one array per property. */
export function properties<K extends string>(
  objects: readonly Readonly<Record<K, Scalar>>[],
  ...names: readonly K[]
): Bindable[] {
  return names.map((name) => objects.map((each) => each[name]))
}

/** The part of a `pg` client that a session needs; a user's client has it too. */
export interface Querying {
  /** Whether it sends statements without waiting for earlier answers. */
  readonly pipeline?: boolean
  query(config: QueryArrayConfig): Promise<QueryArrayResult<unknown[]>>
}

const INT8 = 20
const INT2 = 21
const INT4 = 23
const TEXT_LIST = 1009

/** Parses Wakeful's columns, whatever parsers the user has set. */
const TYPES: CustomTypesConfig = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (oid === INT8) return serialOf
    if (oid === INT2 || oid === INT4) return Number
    return oid === TEXT_LIST ? textList : String
  },
}

/** An array of pool names, which contain neither quotes nor commas. */
function textList(text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}

/** An array literal. `pg` would write it too, in three times the time, and a settle consists of long arrays. */
function bound(value: Bindable): Scalar {
  if (typeof value !== 'object' || value === null) return value
  let text = ''
  for (const item of value) {
    if (typeof item === 'string') text += `,"${quotable(item)}"`
    else text += item === null ? ',NULL' : `,${item}`
  }
  return `{${text.slice(1)}}`
}

function quotable(text: string): string {
  const doubled = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
  return doubled.includes('"') ? doubled.replaceAll('"', '\\"') : doubled
}

/** The schema's name in the statements; it is replaced by the store's. */
const WRITTEN = /\bwakeful\./g

interface Statement {
  readonly text: string
  readonly name: string
}

/** How statements are sent: in the store's schema, and under a name, so that the server plans them once. */
export class Dialect {
  /** The schema's name, unquoted and quoted. */
  readonly plainSchema: string
  readonly schema: string
  readonly #statements = new Map<string, Statement>()

  constructor(schema: string) {
    this.plainSchema = schema
    this.schema = `"${schema}"`
  }

  statement(written: string): Statement {
    let statement = this.#statements.get(written)
    if (statement === undefined) {
      const text = this.text(written)
      const name = `wakeful_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`
      statement = { text, name }
      this.#statements.set(written, statement)
    }
    return statement
  }

  text(written: string): string {
    return written.replace(WRITTEN, `${this.schema}.`)
  }
}

/** A connection, or a pool of them, with the store's dialect. */
export class Session {
  readonly client: Querying
  readonly dialect: Dialect
  readonly #named: boolean
  readonly #isSerial: boolean
  readonly #bound: Bound
  #sent: Promise<unknown>[] = []
  #last: Promise<unknown> = Promise.resolve()
  #failure: unknown = null
  /**
   * The statement that begins the transaction, until it is sent, and the first statement, which waits in case it is
   * the only one.
   */
  #begin: string | null = null
  #only: readonly [written: string, values: readonly Bindable[]] | null = null

  /** `bound` is how it waits for each answer. */
  constructor(client: Querying, dialect: Dialect, named = true, bound: Bound = (answer) => answer) {
    this.#bound = bound
    this.client = client
    this.dialect = dialect
    this.#named = named
    this.#isSerial = client.pipeline === false
  }

  /** Begins a transaction with its second statement: a single statement is a transaction by itself. */
  beginLater(begin: string): void {
    this.#begin = begin
  }

  /** Sends the only statement of a transaction, which commits by itself; false if the transaction has begun. */
  sendOnly(): boolean {
    if (this.#begin === null) return false
    const only = this.#only
    this.#begin = null
    this.#only = null
    if (only !== null) this.#post(...only)
    return true
  }

  /** Runs a statement and returns its rows, each as an array of values. */
  async rows(written: string, ...values: Bindable[]): Promise<Values[]> {
    return (await this.#query(written, values)).rows
  }

  /** Runs a statement and returns its first row. */
  async row(written: string, ...values: Bindable[]): Promise<Values | undefined> {
    return (await this.#query(written, values)).rows[0]
  }

  /** Runs a statement and returns the number of affected rows. */
  async run(written: string, ...values: Bindable[]): Promise<number> {
    return (await this.#query(written, values)).rowCount ?? 0
  }

  /** Sends a statement without waiting for it: `acknowledged` waits for the answers and throws the first error. */
  send(written: string, ...values: Bindable[]): void {
    if (this.#begin !== null && this.#only === null) this.#only = [written, values]
    else this.#post(written, values)
  }

  /** Waits for everything that was sent; throws the first error. */
  async acknowledged(): Promise<void> {
    this.#open()
    const sent = this.#sent
    this.#sent = []
    for (const outcome of await Promise.allSettled(sent))
      if (outcome.status === 'rejected') throw outcome.reason
  }

  /** The first error: later ones only say that the transaction has failed. */
  cause(thrown: unknown): unknown {
    return isAborted(thrown) ? (this.#failure ?? thrown) : thrown
  }

  /** Rolls back to a savepoint; errors since then are dropped. */
  async rollbackTo(savepoint: string): Promise<void> {
    await this.acknowledged().catch(() => {})
    await this.plain(`ROLLBACK TO SAVEPOINT ${savepoint}`)
    this.#failure = null
  }

  /** Runs a statement that is not prepared: BEGIN, COMMIT, savepoints. */
  async plain(written: string): Promise<string> {
    this.#open()
    const query = { text: this.dialect.text(written), rowMode: 'array', types: TYPES } as const
    return (await this.#inTurn(() => this.#bound(this.client.query(query)))).command
  }

  #post(written: string, values: readonly Bindable[]): void {
    const sent = this.#query(written, values)
    sent.catch(() => {})
    this.#sent.push(sent)
  }

  /** Begins the transaction, if that is still to be sent. */
  #open(): void {
    if (this.#begin === null) return
    const [begin, only] = [this.#begin, this.#only]
    this.#begin = null
    this.#only = null
    this.#post(begin, [])
    if (only !== null) this.#post(...only)
  }

  #query(written: string, values: readonly Bindable[]): Promise<QueryArrayResult<unknown[]>> {
    this.#open()
    const { text, name } = this.dialect.statement(written)
    const query = { text, values: values.map(bound), rowMode: 'array', types: TYPES } as const
    const answer = this.#inTurn(() =>
      this.#bound(this.client.query(this.#named ? { ...query, name } : query)),
    )
    answer.catch((thrown: unknown) => {
      this.#failure ??= thrown
    })
    return answer
  }

  /** Statements are sent one by one if the connection cannot pipeline them. */
  #inTurn<T>(send: () => Promise<T>): Promise<T> {
    if (!this.#isSerial) return send()
    const turn = this.#last.then(send, send)
    this.#last = turn.catch(() => {})
    return turn
  }
}

/** Without an answer to the goodbye by then, the connection is half open. */
const GOODBYE_MS = 1_000

/** How a session waits for an answer. */
type Bound = <T>(answer: Promise<T>) => Promise<T>

/**
 * Waits for answers on a connection, for at most this long: without one, the connection is half open and is dropped, which
 * fails everything that waits for it. The waits of `pg` itself are not used, because no test could let their time pass.
 */
export function boundOf(timers: Timers, client: ClientBase, msMax: number): Bound {
  return (answer) => {
    const cancel = timers.later(msMax, () => hangUp(client, late(`no answer within ${msMax} ms`)))
    answer.then(cancel, cancel)
    return answer
  }
}

/** The clients of a database: each gives up to connect after this long. */
export function clientClass(driver: Driver, timers: Timers, msMax: number): typeof Client {
  return class extends driver.Client {
    override connect(): Promise<Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<Client> | undefined {
      const cancel = timers.later(msMax, () => hangUp(this, late(`no connection within ${msMax} ms`)))
      if (callback === undefined) return super.connect().finally(cancel)
      super.connect((error: Error) => {
        cancel()
        callback(error)
      })
      return undefined
    }
  }
}

/** Takes a connection from a pool, if one is free in time. */
export function checkOut(timers: Timers, pool: Pool, msMax: number): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const cancel = timers.later(msMax, () => {
      isLate = true
      reject(late(`no free connection within ${msMax} ms`))
    })
    pool.connect().then(
      (client) => {
        cancel()
        if (isLate) client.release()
        else resolve(client)
      },
      (thrown: unknown) => {
        cancel()
        reject(thrown)
      },
    )
  })
}

/** Waits for connections to end, and closes those that the server has not answered in time. */
export async function endAll(
  timers: Timers,
  goodbye: Promise<unknown>,
  open: () => Iterable<Client>,
): Promise<void> {
  let cancel = () => {}
  const ended = new Promise<void>((resolve) => {
    cancel = timers.later(GOODBYE_MS, () => {
      for (const client of open()) hangUp(client)
      resolve()
    })
  })
  await Promise.race([goodbye, ended])
  cancel()
}

/** Closes a connection without a goodbye: a half-open one would wait until the network gives up. */
export function hangUp(client: ClientBase, reason?: Error): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(reason?: Error): void } } }
  connection?.stream?.destroy(reason)
}

/** The error of a broken connection. */
function late(text: string): Error {
  return Object.assign(new Error(text), { code: 'ETIMEDOUT' })
}
