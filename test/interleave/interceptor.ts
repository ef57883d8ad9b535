import pg from 'pg'
import { isNeutral, nameOf, type StatementName } from './statement-name.ts'

/** The result of a statement, and how to pass it to the sender. */
export type Ending = ({ readonly rows: number } | { readonly code: string; readonly message: string }) & {
  deliver(): void
}

/** A statement that waits for its turn or was sent, or another step of an actor. */
export interface PendingStatement {
  readonly connection: Connection
  readonly name: string
  /** Whether it has no effect visible to others. It goes together with the next statement. */
  readonly isNeutral: boolean
  /** Sends it. Resolves when it has ended, whatever the result. */
  send(): Promise<Ending>
}

/** One connection of a process. Its statements go one after the other. */
export class Connection {
  readonly name: string
  readonly process: string
  readonly pid: number | null
  readonly waiting: PendingStatement[] = []
  /** The statement that was sent and not answered: it waits for a lock, or is running. */
  sent: { readonly pending: PendingStatement; ending: Ending | null } | null = null
  /** The name of the last statement, to detect polling. */
  last: string | null = null
  /** Whether its transaction has a lock timeout. */
  hasLockTimeout = false

  constructor(name: string, process: string, pid: number | null) {
    this.name = name
    this.process = process
    this.pid = pid
  }

  /** Whether it is about to repeat its last statement. Then other connections go first, if they can. */
  get isSpinning(): boolean {
    return this.waiting[0] !== undefined && this.waiting[0].name === this.last
  }
}

/** An injected fault of a statement. */
export interface Fault {
  readonly name: StatementName | 'COMMIT'
  /**
   * `answer`: it runs, but its answer is lost. `send`: the connection breaks before it is sent. `connection`: the
   * server has already closed the connection.
   */
  readonly loses: 'answer' | 'send' | 'connection'
}

/** Intercepts the statements of a process. While it is active, each statement waits until the scheduler releases it. */
export class Interceptor {
  readonly process: string
  isActive = false
  /** The value used for `SET LOCAL lock_timeout`, so that no schedule depends on real time. */
  lockTimeoutMs = 60_000
  /** Statements whose answers are scheduled separately. */
  lateAnswers: readonly (StatementName | 'COMMIT')[] = []
  faults: Fault[] = []
  /** Ends a connection from the server's side. */
  terminate: (pid: number) => Promise<void> = () => Promise.resolve()
  /** The server's clock. */
  now: () => number = () => 0
  connections: Connection[] = []
  readonly #byClient = new Map<object, Connection>()
  #points: Connection | null = null

  constructor(process: string) {
    this.process = process
  }

  /** Forgets the connections of the previous schedule. */
  reset(): void {
    this.connections = []
    this.faults = []
    this.lateAnswers = []
    this.#byClient.clear()
    this.#points = null
  }

  /** A step that is not a statement: a clock step, or the start of a delivery. It is scheduled like one. */
  point(name: string): Promise<void> {
    if (!this.isActive) return Promise.resolve()
    this.#points ??= this.#connection(null)
    const connection = this.#points
    return new Promise((resolve) => {
      const send = () => Promise.resolve({ rows: 0, deliver: resolve })
      connection.waiting.push({ connection, name, isNeutral: false, send })
    })
  }

  connectionOf(client: object, pid: number | null): Connection {
    let connection = this.#byClient.get(client)
    if (connection === undefined) {
      connection = this.#connection(pid)
      this.#byClient.set(client, connection)
    }
    return connection
  }

  #connection(pid: number | null): Connection {
    const count = this.connections.length + 1
    const connection = new Connection(
      count === 1 ? this.process : `${this.process}${count}`,
      this.process,
      pid,
    )
    this.connections.push(connection)
    return connection
  }
}

/** The parts of a `pg` client that are used here. */
interface Client {
  readonly processID: number | null
  once(event: 'end', listener: () => void): void
  readonly connectionParameters: { readonly application_name?: string }
  readonly connection: { readonly stream: { destroy(): void } }
}

interface QueryConfig {
  readonly text: string
  readonly name?: string
  readonly values?: unknown[]
}

interface Result {
  readonly rowCount: number | null
}

type Callback = (error: Error | undefined, result?: Result) => void
type Query = (this: Client, config: unknown, values?: unknown, callback?: Callback) => unknown

const interceptors = new Map<string, Interceptor>()
const listeners = new Map<string, Set<Client>>()
const prototype = pg.Client.prototype as unknown as { query: Query }
const original = prototype.query

/** Intercepts every statement of the connections with this application name. */
export function intercept(applicationName: string, interceptor: Interceptor): void {
  if (interceptors.size === 0) prototype.query = intercepted
  interceptors.set(applicationName, interceptor)
}

/** Stops intercepting. */
export function stopIntercepting(applicationName: string): void {
  interceptors.delete(applicationName)
  listeners.delete(applicationName)
  if (interceptors.size === 0) prototype.query = original
}

/** Forgets listening connections that are closed. */
export function forgetListeners(applicationName: string): void {
  listeners.delete(applicationName)
}

/** Waits until all notices were received: a listening connection passes them on before it answers a query. */
export async function flushNotices(applicationName: string): Promise<void> {
  for (const client of listeners.get(applicationName) ?? []) await sent(client, { text: 'SELECT 1' })
}

/** Whether a connection with this application name listens. */
export function isListening(applicationName: string): boolean {
  return listeners.has(applicationName)
}

function intercepted(this: Client, config: unknown, values?: unknown, callback?: Callback): unknown {
  const application = this.connectionParameters.application_name ?? ''
  const interceptor = interceptors.get(application)
  if (textOf(config).startsWith('LISTEN')) {
    const known = listeners.get(application) ?? new Set()
    listeners.set(application, known.add(this))
  }
  if (interceptor === undefined || !interceptor.isActive || isSubmittable(config))
    return original.call(this, config, values, callback)
  const query = configOf(config, values)
  const done = typeof values === 'function' ? (values as Callback) : callback
  const result = enqueue(this, interceptor, query)
  if (done === undefined) return result
  result.then(
    (answer) => done(undefined, answer),
    (thrown: Error) => done(thrown),
  )
  return undefined
}

function textOf(config: unknown): string {
  return typeof config === 'string' ? config : ((config as Partial<QueryConfig> | null)?.text ?? '')
}

function isSubmittable(config: unknown): boolean {
  return typeof (config as { submit?: unknown } | null)?.submit === 'function'
}

function configOf(config: unknown, values: unknown): QueryConfig {
  const named = typeof config === 'string' ? { text: config } : (config as QueryConfig)
  return Array.isArray(values) ? { ...named, values } : named
}

/** Holds a statement until the scheduler releases it, and returns the server's answer. */
function enqueue(client: Client, interceptor: Interceptor, request: QueryConfig): Promise<Result> {
  const connection = interceptor.connectionOf(client, client.processID)
  const name = nameOf(request.text)
  const query = rewritten(request, interceptor)
  return new Promise((resolve, reject) => {
    const send = async (): Promise<Ending> => {
      const fault = nextFault(interceptor, name)
      try {
        if (fault?.loses === 'send') throw broken(client, 'it was never sent')
        if (fault?.loses === 'connection') await terminated(client, interceptor)
        const result = await sent(client, atThisMoment(query, name, interceptor))
        noteTimeout(connection, request.text)
        if (fault?.loses === 'answer') throw broken(client, ANSWER_LOST)
        const isLate = (interceptor.lateAnswers as readonly string[]).includes(name)
        const deliver = () =>
          isLate ? delayAnswer(connection, name, () => resolve(result)) : resolve(result)
        return { rows: result.rowCount ?? 0, deliver }
      } catch (thrown) {
        const { code, message } = thrown as { code?: string; message: string }
        return { code: code ?? 'error', message, deliver: () => reject(thrown) }
      }
    }
    connection.waiting.push({ connection, name, isNeutral: isNeutral(request.text), send })
  })
}

/** Holds the answer until the scheduler releases it. Later statements of the connection wait behind it. */
function delayAnswer(connection: Connection, name: string, resolve: () => void): void {
  const send = () => Promise.resolve({ rows: 0, deliver: resolve })
  connection.waiting.unshift({ connection, name: `answer of ${name}`, isNeutral: false, send })
}

/** Ends the connection, and waits until its process has noticed. */
async function terminated(client: Client, interceptor: Interceptor): Promise<void> {
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  await interceptor.terminate(client.processID!)
  await ended
}

function nextFault(interceptor: Interceptor, name: string): Fault | undefined {
  const index = interceptor.faults.findIndex((fault) => fault.name === name)
  return index < 0 ? undefined : interceptor.faults.splice(index, 1)[0]
}

/** The trace's text for a statement that ran, but whose answer was lost. */
export const ANSWER_LOST = 'its answer is lost'

function broken(client: Client, message: string): Error {
  client.connection.stream.destroy()
  return Object.assign(new Error(message), { code: 'ECONNRESET' })
}

function noteTimeout(connection: Connection, text: string): void {
  if (text.includes('lock_timeout')) connection.hasLockTimeout = true
  if (/^(?:COMMIT|ROLLBACK$)/.test(text)) connection.hasLockTimeout = false
}

function rewritten(query: QueryConfig, interceptor: Interceptor): QueryConfig {
  if (!query.text.startsWith('SET LOCAL lock_timeout')) return query
  const text = `SET LOCAL lock_timeout = '${interceptor.lockTimeoutMs}ms'`
  return query.name === undefined
    ? { ...query, text }
    : { ...query, text, name: `${query.name}_${interceptor.lockTimeoutMs}` }
}

/**
 * The index of the clock among a statement's values. The server reads its clock when it runs the statement, so the
 * value is bound when the statement is released.
 */
const CLOCK_POSITIONS: Partial<Record<StatementName, number>> = {
  nearShards: 1,
  heartbeat: 3,
  markDeadProcesses: 1,
}

function atThisMoment(query: QueryConfig, name: string, interceptor: Interceptor): QueryConfig {
  const position = CLOCK_POSITIONS[name as StatementName]
  // A time of 0 means that the clock must not be used.
  if (position === undefined || query.values?.[position] === 0) return query
  return { ...query, values: query.values!.with(position, interceptor.now()) }
}

function sent(client: Client, query: QueryConfig): Promise<Result> {
  return original.call(client, query) as Promise<Result>
}
