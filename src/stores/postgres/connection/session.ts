import { createHash } from 'node:crypto'
import type { CustomTypesConfig, QueryArrayConfig, QueryArrayResult } from 'pg'
import { type Serial, serialOf } from '../../../alarm/index.ts'
import type { Values } from '../../index.ts'
import { isAborted } from './errors.ts'

/** A value that can be bound; lists go into `unnest`. */
export type Bindable = Scalar | readonly Scalar[]
type Scalar = string | Serial | null

/** What a session needs of a `pg` client: a user's own has it too. */
export interface Querying {
  /** Whether it sends statements without waiting for the answers to those before. */
  readonly pipeline?: boolean
  query(config: QueryArrayConfig): Promise<QueryArrayResult<unknown[]>>
}

const INT8 = 20
const INT2 = 21
const INT4 = 23
const TEXT_LIST = 1009

/** Reads what Wakeful's columns hold, whatever parsers a user has set for their own. */
const TYPES: CustomTypesConfig = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (oid === INT8) return serialOf
    if (oid === INT2 || oid === INT4) return Number
    return oid === TEXT_LIST ? textList : String
  },
}

/** A list of plain names: those of pools, which hold neither quotes nor commas. */
function textList(text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}

/** A list as PostgreSQL reads it. `pg` would write it too, in three times the time, and a settle is made of long lists. */
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

/** The name of the schema in every statement, which stands for whatever it is called in this store. */
const WRITTEN = /\bwakeful\./g

interface Statement {
  readonly text: string
  readonly name: string
}

/** How statements are sent: in the store's schema, and under a name so that the server plans them once. */
export class Dialect {
  /** The schema's name, plain and quoted. */
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

/** A connection, or a pool of them, that speaks the store's dialect. */
export class Session {
  readonly client: Querying
  readonly dialect: Dialect
  readonly #named: boolean
  readonly #isSerial: boolean
  readonly #answerMsMax: number | undefined
  #sent: Promise<unknown>[] = []
  #last: Promise<unknown> = Promise.resolve()
  #failure: unknown = null
  /** What begins the transaction, until it is sent, and the statement that waits to see whether it is the only one. */
  #begin: string | null = null
  #only: readonly [written: string, values: readonly Bindable[]] | null = null

  /** An answer that takes longer than `answerMsMax` is taken for one that will never come. */
  constructor(client: Querying, dialect: Dialect, named = true, answerMsMax?: number) {
    this.#answerMsMax = answerMsMax
    this.client = client
    this.dialect = dialect
    this.#named = named
    this.#isSerial = client.pipeline === false
  }

  /** Begins a transaction with the second of its statements: a single one is a transaction by itself. */
  beginLater(begin: string): void {
    this.#begin = begin
  }

  /** Sends what is all there is in a transaction, which then ends by itself; false where it has begun. */
  sendOnly(): boolean {
    if (this.#begin === null) return false
    const only = this.#only
    this.#begin = null
    this.#only = null
    if (only !== null) this.#post(...only)
    return true
  }

  /** Runs a statement and answers its rows, each as a list of its columns' values. */
  async rows(written: string, ...values: Bindable[]): Promise<Values[]> {
    return (await this.#query(written, values)).rows
  }

  /** Runs a statement and answers its first row. */
  async row(written: string, ...values: Bindable[]): Promise<Values | undefined> {
    return (await this.#query(written, values)).rows[0]
  }

  /** Runs a statement and answers how many rows it touched. */
  async run(written: string, ...values: Bindable[]): Promise<number> {
    return (await this.#query(written, values)).rowCount ?? 0
  }

  /** Sends a statement without waiting for it: `acknowledged` waits for the answers and throws the first error. */
  send(written: string, ...values: Bindable[]): void {
    if (this.#begin !== null && this.#only === null) this.#only = [written, values]
    else this.#post(written, values)
  }

  /** Waits for everything that was sent; throws the first thing that went wrong. */
  async acknowledged(): Promise<void> {
    this.#open()
    const sent = this.#sent
    this.#sent = []
    for (const outcome of await Promise.allSettled(sent))
      if (outcome.status === 'rejected') throw outcome.reason
  }

  /** What really went wrong: after the first that failed, all others only say that the transaction has. */
  cause(thrown: unknown): unknown {
    return isAborted(thrown) ? (this.#failure ?? thrown) : thrown
  }

  /** Undoes what came after a savepoint; what failed there is forgiven. */
  async rollbackTo(savepoint: string): Promise<void> {
    await this.acknowledged().catch(() => {})
    await this.plain(`ROLLBACK TO SAVEPOINT ${savepoint}`)
    this.#failure = null
  }

  /** Runs a statement that is not prepared: one that begins, ends or divides a transaction. */
  async plain(written: string): Promise<string> {
    this.#open()
    const query = { text: this.dialect.text(written), rowMode: 'array', types: TYPES } as const
    return (await this.#inTurn(() => this.client.query({ ...query, ...this.#patience() }))).command
  }

  #post(written: string, values: readonly Bindable[]): void {
    const sent = this.#query(written, values)
    sent.catch(() => {})
    this.#sent.push(sent)
  }

  /** Begins the transaction, where that has waited. */
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
    const query = {
      text,
      values: values.map(bound),
      rowMode: 'array',
      types: TYPES,
      ...this.#patience(),
    } as const
    const answer = this.#inTurn(() => this.client.query(this.#named ? { ...query, name } : query))
    answer.catch((thrown: unknown) => {
      this.#failure ??= thrown
    })
    return answer
  }

  /** A connection that cannot be sent several statements at once is sent them one by one. */
  #inTurn<T>(send: () => Promise<T>): Promise<T> {
    if (!this.#isSerial) return send()
    const turn = this.#last.then(send, send)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** `pg` knows a bound for each statement; its types do not. */
  #patience(): object {
    return this.#answerMsMax === undefined ? {} : { query_timeout: this.#answerMsMax }
  }
}
