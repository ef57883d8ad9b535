import { contention } from '../../src/stores/postgres/connection/errors.ts'
import type { Random } from '../random.ts'
import {
  ANSWER_MS_MAX,
  type Conditions,
  drawNotice,
  drawTransmission,
  HEARTBEAT_MS_MAX,
  NORMAL,
  type Transmission,
} from './conditions.ts'
import { type FaultCounter, hasEffect, type MarkHit } from './faults.ts'
import { LinkLost } from './store/wire.ts'
import type { Participant, Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'

/** The progress of a statement: sent, executed but not answered, or answered. */
export type Point = 'sent' | 'ran' | 'answered'

/** Called at each point of every statement, before anything else acts on it. */
type Watcher = (process: string, statement: string, point: Point) => void

/** What a network needs. */
export interface NetworkParts {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly faults: FaultCounter
  /** A random stream for each name. */
  readonly randomFor: (name: string) => Random
}

/** A lasting fault: its end in true time, and how to mark that a statement met it. */
interface ActiveFault {
  readonly until: number
  readonly markHit: MarkHit
}

/** A statement in progress. */
interface Exchange<T> {
  readonly process: Participant
  readonly name: string
  readonly statement: string
  readonly transmission: Transmission
  readonly sentAt: number
  /** The number of outages when it was sent. A later outage breaks its connection. */
  readonly outages: number
  readonly resolve: (answer: T) => void
  readonly reject: (thrown: unknown) => void
}

const SLOWED_MS_MAX = 800

/** The network between the processes and the database. */
export class Network {
  conditions: Conditions = NORMAL
  readonly #timeline: Timeline
  readonly #trace: Trace
  readonly #faults: FaultCounter
  readonly #randomFor: (name: string) => Random
  readonly #randoms = new Map<string, Random>()
  readonly #watchers = new Set<Watcher>()
  readonly #cuts = new Map<string, ActiveFault>()
  readonly #hangs = new Map<string, ActiveFault>()
  #outage: ActiveFault | undefined
  /** Statements with this prefix are slow until then. */
  #slowed: { readonly prefix: string; readonly until: number } | undefined
  #outages = 0
  /** The number of pending statements that write or claim, by process. */
  readonly #awaited = new Map<string, number>()

  constructor({ timeline, trace, faults, randomFor }: NetworkParts) {
    this.#timeline = timeline
    this.#trace = trace
    this.#faults = faults
    this.#randomFor = randomFor
  }

  /** Partitions a process from the database: no request and no response arrives, and no error either. */
  cut(name: string, ms: number, markHit: MarkHit): void {
    this.#cuts.set(name, { until: this.#timeline.now + ms, markHit })
  }

  /** Leaves a process's connections half open: requests arrive, but no responses. */
  halfOpen(name: string, ms: number, markHit: MarkHit): void {
    this.#hangs.set(name, { until: this.#timeline.now + ms, markHit })
  }

  /** Takes the database down: every connection breaks, and none is made until it is up. */
  breakAll(ms: number, markHit: MarkHit): void {
    this.#outages += 1
    this.#outage = { until: this.#timeline.now + ms, markHit }
  }

  /** Slows down all statements with this prefix. */
  slowStatements(prefix: string, ms: number): void {
    this.#slowed = { prefix, until: this.#timeline.now + ms }
  }

  /** Ends the faults of the network that would last on: from now on, statements take their normal time. */
  calm(): void {
    this.conditions = NORMAL
    this.#slowed = undefined
  }

  /** Whether a process waits for a statement that writes or claims. */
  isAwaited(name: string): boolean {
    return (this.#awaited.get(name) ?? 0) > 0
  }

  /** Forgets the pending statements of a dead process. */
  forget(name: string): void {
    this.#awaited.delete(name)
  }

  /** Calls a watcher when a statement is sent, executed or answered. Returns how to stop. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Carries a statement of a process to the database, and its response back. */
  statement<T>(process: Participant, name: string, statement: string, run: () => T): Promise<T> {
    // A process that dies within a turn has no further effect in that turn.
    const event = process.isDead ? 0 : process.begins()
    if (process.isDead) return new Promise(() => {})
    const transmission = this.#transmissionOf(name, statement)
    const answered = new Promise<T>((resolve, reject) => {
      const [sentAt, outages] = [this.#timeline.now, this.#outages]
      const exchange = { process, name, statement, transmission, sentAt, outages, resolve, reject }
      this.#await(exchange, 1)
      // A sent statement arrives even if its sender dies meanwhile.
      this.#timeline.in(transmission.requestMs, null, () => this.#arrive(exchange, run))
    })
    this.#reach(name, statement, 'sent')
    process.ended(event)
    return answered
  }

  /** Delivers a notice to a listening process, normally once. */
  notify(name: string, receive: () => void): void {
    const { fault, lateMs } = drawNotice(this.#random(name, 'news'), this.conditions)
    if (fault === null) {
      receive()
      return
    }
    this.#faults.note(fault, true, name)
    this.#trace.note(this.#timeline.now, name, fault)
    if (fault === 'noticeDuplicated') receive()
    if (fault !== 'noticeLost') this.#timeline.in(lateMs, null, receive)
  }

  #arrive<T>(exchange: Exchange<T>, run: () => T): void {
    const { name, statement, transmission } = exchange
    if (transmission.fault === 'requestLost' || this.#isBroken(exchange)) {
      this.#lose(exchange, 'before it ran')
      return
    }
    if (this.#meets(this.#cuts.get(name), statement)) {
      this.#hang(exchange, HEARTBEAT_MS_MAX)
      return
    }
    this.#trace.note(this.#timeline.now, name, statement)
    const answer =
      transmission.fault === 'conflict' ? { thrown: contention('deadlock detected') } : outcomeOf(run)
    this.#reach(name, statement, 'ran')
    if (transmission.fault === 'responseLost') this.#lose(exchange, 'after it ran')
    else if (transmission.fault === 'hang') this.#hang(exchange)
    else this.#return(exchange, answer)
  }

  /** Delivers the response, unless a fault hits it on the way. */
  #return<T>(exchange: Exchange<T>, answer: Outcome<T>): void {
    const { process, name, statement, transmission } = exchange
    this.#timeline.in(transmission.responseMs, process, () => {
      if (this.#isBroken(exchange)) this.#lose(exchange, 'after it ran')
      else if (this.#meets(this.#cuts.get(name), statement)) this.#hang(exchange, HEARTBEAT_MS_MAX)
      else if (this.#meets(this.#hangs.get(name), statement)) this.#hang(exchange)
      else this.#answer(exchange, answer)
    })
  }

  #lose<T>(exchange: Exchange<T>, where: string): void {
    const { process, name, statement, transmission } = exchange
    this.#trace.note(this.#timeline.now, name, `${statement} lost ${where}`)
    this.#timeline.in(transmission.responseMs, process, () =>
      this.#answer(exchange, { thrown: new LinkLost(`the link broke ${where}`) }),
    )
  }

  /** No response comes. The process gives up the connection after its timeout. */
  #hang<T>(exchange: Exchange<T>, timeoutMs = responseTimeout(exchange.statement)): void {
    const { process, name, statement, sentAt } = exchange
    this.#trace.note(this.#timeline.now, name, `${statement} hangs`)
    this.#timeline.in(sentAt + timeoutMs - this.#timeline.now, process, () =>
      this.#answer(exchange, { thrown: new LinkLost('no answer came') }),
    )
  }

  #answer<T>(exchange: Exchange<T>, answer: Outcome<T>): void {
    this.#await(exchange, -1)
    this.#reach(exchange.name, exchange.statement, 'answered')
    // A process killed at this moment has not read the response.
    if (exchange.process.isDead) return
    if ('value' in answer) exchange.resolve(answer.value)
    else exchange.reject(answer.thrown)
  }

  /**
   * The random stream for a machine's statements or notices. Later processes on the machine continue it. The names seed
   * the streams, so renaming one (or a statement) changes what every seed draws.
   */
  #random(process: string, what: string): Random {
    const name = `${process.split('.')[0]} ${what}`
    const known = this.#randoms.get(name)
    if (known !== undefined) return known
    const random = this.#randomFor(name)
    this.#randoms.set(name, random)
    return random
  }

  #reach(name: string, statement: string, point: Point): void {
    for (const watcher of [...this.#watchers]) watcher(name, statement, point)
  }

  #await<T>({ name, statement }: Exchange<T>, more: number): void {
    if (hasEffect(statement)) this.#awaited.set(name, (this.#awaited.get(name) ?? 0) + more)
  }

  #transmissionOf(name: string, statement: string): Transmission {
    const drawn = this.#slowDown(
      name,
      statement,
      drawTransmission(this.#random(name, statement), this.conditions),
    )
    if (this.#meets(this.#cuts.get(name), statement))
      return { ...drawn, responseMs: HEARTBEAT_MS_MAX, fault: 'requestLost' }
    const isEffective = hasEffect(statement)
    // A read does not conflict with other transactions.
    const transmission = drawn.fault === 'conflict' && !isEffective ? { ...drawn, fault: null } : drawn
    if (transmission.isSlow) this.#faults.note('slow', isEffective, name, statement)
    if (transmission.fault !== null) this.#faults.note(transmission.fault, isEffective, name, statement)
    return transmission
  }

  #slowDown(name: string, statement: string, transmission: Transmission): Transmission {
    if (this.#slowed === undefined || this.#slowed.until <= this.#timeline.now) return transmission
    if (!statement.startsWith(this.#slowed.prefix)) return transmission
    const requestMs = transmission.requestMs + this.#random(name, 'drag').next() * SLOWED_MS_MAX
    return { ...transmission, requestMs, isSlow: true }
  }

  /** Whether the database is down, or was down since the statement was sent. */
  #isBroken<T>({ statement, outages }: Exchange<T>): boolean {
    return this.#meets(this.#outage, statement) || outages !== this.#outages
  }

  /** Whether a statement meets this fault. If so, the fault has hit. */
  #meets(active: ActiveFault | undefined, statement: string): boolean {
    if (active === undefined || active.until <= this.#timeline.now) return false
    if (hasEffect(statement)) active.markHit()
    return true
  }
}

/** How long a process waits for a response. */
function responseTimeout(statement: string): number {
  return statement === 'heartbeat' ? HEARTBEAT_MS_MAX : ANSWER_MS_MAX
}

type Outcome<T> = { readonly value: T } | { readonly thrown: unknown }

function outcomeOf<T>(run: () => T): Outcome<T> {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
