import pg from 'pg'
import { isGlue, nameOf } from './statement-name.ts'

/** How a statement ended, and how its sender hears of it. */
export type Ending = ({ readonly rows: number } | { readonly code: string; readonly message: string }) & {
  deliver(): void
}

/** A statement that waits for its turn, or is on its way, or a step of an actor's own that is none. */
export interface Held {
  readonly lane: Lane
  readonly name: string
  /** Whether it does nothing that others could see: it goes together with what follows. */
  readonly isGlue: boolean
  /** Lets it go; answers when it has ended, however it did. */
  send(): Promise<Ending>
}

/** One connection of a process: what is sent there goes one after the other. */
export class Lane {
  readonly name: string
  readonly process: string
  readonly pid: number | null
  readonly waiting: Held[] = []
  /** What was sent and has not been answered: it waits for a lock, or is just under way. */
  flying: { readonly held: Held; ending: Ending | null } | null = null
  /** What went last, so that somebody who asks the same again and again can be told. */
  last: string | null = null
  /** Whether its transaction gives up waiting for locks. */
  hasLockTimeout = false

  constructor(name: string, process: string, pid: number | null) {
    this.name = name
    this.process = process
    this.pid = pid
  }

  /** Whether it is about to ask what it asked just now: then others go first, if they can. */
  get isSpinning(): boolean {
    return this.waiting[0] !== undefined && this.waiting[0].name === this.last
  }
}

/** What may go wrong with a statement on purpose. */
export interface Fault {
  readonly name: string
  /**
   * `answer`: it is done and nobody hears of it. `send`: the connection breaks as it is sent. `connection`: the server
   * has ended the connection before, between two statements.
   */
  readonly loses: 'answer' | 'send' | 'connection'
}

/** A process's own gate: while it is shut, each statement waits until it is told to go. */
export class Gate {
  readonly process: string
  isShut = false
  /** How `SET LOCAL lock_timeout` is rewritten, so that no schedule depends on real time. */
  lockTimeoutMs = 60_000
  /** Statements whose answers wait for a turn of their own. */
  lateAnswers: readonly string[] = []
  faults: Fault[] = []
  /** Ends a connection from the server's side. */
  terminate: (pid: number) => Promise<void> = () => Promise.resolve()
  /** What the server's clock would read. */
  now: () => number = () => 0
  lanes: Lane[] = []
  readonly #byClient = new Map<object, Lane>()
  #points: Lane | null = null

  constructor(process: string) {
    this.process = process
  }

  /** Forgets the lanes of the schedule before. */
  reset(): void {
    this.lanes = []
    this.faults = []
    this.lateAnswers = []
    this.#byClient.clear()
    this.#points = null
  }

  /** A step that is no statement: the clock moves, a delivery starts. It waits for its turn like one. */
  point(name: string): Promise<void> {
    if (!this.isShut) return Promise.resolve()
    this.#points ??= this.#lane(null)
    const lane = this.#points
    return new Promise((resolve) => {
      const send = () => Promise.resolve({ rows: 0, deliver: resolve })
      lane.waiting.push({ lane, name, isGlue: false, send })
    })
  }

  laneOf(client: object, pid: number | null): Lane {
    let lane = this.#byClient.get(client)
    if (lane === undefined) {
      lane = this.#lane(pid)
      this.#byClient.set(client, lane)
    }
    return lane
  }

  #lane(pid: number | null): Lane {
    const count = this.lanes.length + 1
    const lane = new Lane(count === 1 ? this.process : `${this.process}${count}`, this.process, pid)
    this.lanes.push(lane)
    return lane
  }
}

/** What the gates need of a `pg` client. */
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

const gates = new Map<string, Gate>()
const listeners = new Map<string, Set<Client>>()
const prototype = pg.Client.prototype as unknown as { query: Query }
const original = prototype.query

/** Puts a gate before every statement of the connections of this name. */
export function guard(applicationName: string, gate: Gate): void {
  if (gates.size === 0) prototype.query = gated
  gates.set(applicationName, gate)
}

/** Takes the gate away. */
export function unguard(applicationName: string): void {
  gates.delete(applicationName)
  listeners.delete(applicationName)
  if (gates.size === 0) prototype.query = original
}

/** Forgets connections that listened and are closed. */
export function forgetListeners(applicationName: string): void {
  listeners.delete(applicationName)
}

/** Makes sure that what was notified has been heard: a connection that listens tells it before it answers. */
export async function hearAll(applicationName: string): Promise<void> {
  for (const client of listeners.get(applicationName) ?? []) await sent(client, { text: 'SELECT 1' })
}

function gated(this: Client, config: unknown, values?: unknown, callback?: Callback): unknown {
  const application = this.connectionParameters.application_name ?? ''
  const gate = gates.get(application)
  if (typeof config === 'string' && config.startsWith('LISTEN')) {
    const known = listeners.get(application) ?? new Set()
    listeners.set(application, known.add(this))
  }
  if (gate === undefined || !gate.isShut || isSubmittable(config))
    return original.call(this, config, values, callback)
  const query = configOf(config, values)
  const done = typeof values === 'function' ? (values as Callback) : callback
  const result = enqueue(this, gate, query)
  if (done === undefined) return result
  result.then(
    (answer) => done(undefined, answer),
    (thrown: Error) => done(thrown),
  )
  return undefined
}

function isSubmittable(config: unknown): boolean {
  return typeof (config as { submit?: unknown } | null)?.submit === 'function'
}

function configOf(config: unknown, values: unknown): QueryConfig {
  const named = typeof config === 'string' ? { text: config } : (config as QueryConfig)
  return Array.isArray(values) ? { ...named, values } : named
}

/** Keeps a statement until the scheduler lets it go, and answers as the server did. */
function enqueue(client: Client, gate: Gate, given: QueryConfig): Promise<Result> {
  const lane = gate.laneOf(client, client.processID)
  const name = nameOf(given.text)
  const query = rewritten(given, gate)
  return new Promise((resolve, reject) => {
    const send = async (): Promise<Ending> => {
      const fault = takeFault(gate, name)
      try {
        if (fault?.loses === 'send') throw broken(client, 'it was never sent')
        if (fault?.loses === 'connection') await terminated(client, gate)
        const result = await sent(client, atThisMoment(query, name, gate))
        noteTimeout(lane, given.text)
        if (fault?.loses === 'answer') throw broken(client, ANSWER_LOST)
        const isLate = gate.lateAnswers.includes(name)
        const deliver = () => (isLate ? holdAnswer(lane, name, () => resolve(result)) : resolve(result))
        return { rows: result.rowCount ?? 0, deliver }
      } catch (thrown) {
        const { code, message } = thrown as { code?: string; message: string }
        return { code: code ?? 'error', message, deliver: () => reject(thrown) }
      }
    }
    lane.waiting.push({ lane, name, isGlue: isGlue(given.text), send })
  })
}

/** The answer is on its way for as long as the scheduler likes; what was sent behind it is not sent before. */
function holdAnswer(lane: Lane, name: string, resolve: () => void): void {
  const send = () => Promise.resolve({ rows: 0, deliver: resolve })
  lane.waiting.unshift({ lane, name: `answer of ${name}`, isGlue: false, send })
}

/** Ends the connection, and waits until its process has noticed. */
async function terminated(client: Client, gate: Gate): Promise<void> {
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  await gate.terminate(client.processID!)
  await ended
}

function takeFault(gate: Gate, name: string): Fault | undefined {
  const index = gate.faults.findIndex((fault) => fault.name === name)
  return index < 0 ? undefined : gate.faults.splice(index, 1)[0]
}

/** How the story tells of a statement that was carried out, and whose sender never heard of it. */
export const ANSWER_LOST = 'its answer is lost'

function broken(client: Client, message: string): Error {
  client.connection.stream.destroy()
  return Object.assign(new Error(message), { code: 'ECONNRESET' })
}

function noteTimeout(lane: Lane, text: string): void {
  if (text.includes('lock_timeout')) lane.hasLockTimeout = true
  if (/^(?:COMMIT|ROLLBACK$)/.test(text)) lane.hasLockTimeout = false
}

function rewritten(query: QueryConfig, gate: Gate): QueryConfig {
  if (!query.text.startsWith('SET LOCAL lock_timeout')) return query
  const text = `SET LOCAL lock_timeout = '${gate.lockTimeoutMs}ms'`
  return query.name === undefined
    ? { ...query, text }
    : { ...query, text, name: `${query.name}_${gate.lockTimeoutMs}` }
}

/** Where the clock stands among a statement's values: a server reads its own when it runs the statement, not before. */
const CLOCK_PLACES: Readonly<Record<string, number>> = { nearShards: 1, beat: 3, buryOwners: 1 }

function atThisMoment(query: QueryConfig, name: string, gate: Gate): QueryConfig {
  const place = CLOCK_PLACES[name]
  // A moment of 0 says that the clock is not to be believed.
  if (place === undefined || query.values?.[place] === 0) return query
  return { ...query, values: query.values!.with(place, gate.now()) }
}

function sent(client: Client, query: QueryConfig): Promise<Result> {
  return original.call(client, query) as Promise<Result>
}
