import { contention } from '../../src/stores/postgres/connection/errors.ts'
import type { Random } from '../random.ts'
import {
  ANSWER_MS_MAX,
  BEAT_MS_MAX,
  type Conditions,
  drawNotice,
  drawTransmission,
  NORMAL,
  type Transmission,
} from './conditions.ts'
import { type FaultCounter, hasEffect, type MarkHit } from './faults.ts'
import { LinkLost } from './store/wire.ts'
import type { Participant, Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'

/** Where a statement is: on its way, carried out and not yet answered, or answered. */
export type Point = 'sent' | 'ran' | 'answered'

/** Told of every statement at each of its points, before anybody else acts on it. */
type Watcher = (process: string, statement: string, point: Point) => void

/** What a network is made of. */
export interface NetworkParts {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly faults: FaultCounter
  /** Chance for each link, by name. */
  readonly randomFor: (name: string) => Random
}

/** What is wrong for a while: until when, in true time, and who is told that a statement met it. */
interface ActiveFault {
  readonly until: number
  readonly markHit: MarkHit
}

/** A statement under way. */
interface Exchange<T> {
  readonly process: Participant
  readonly name: string
  readonly statement: string
  readonly transmission: Transmission
  readonly sentAt: number
  /** How often the database had gone down by then: its link is of that time. */
  readonly outages: number
  readonly resolve: (answer: T) => void
  readonly reject: (thrown: unknown) => void
}

const SLOWED_MS_MAX = 800

/** What lies between the processes and the database. */
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
  /** Statements that begin so are slow until then. */
  #slowed: { readonly prefix: string; readonly until: number } | undefined
  #outages = 0
  /** How many statements that write or take each process waits for. */
  readonly #awaited = new Map<string, number>()

  constructor({ timeline, trace, faults, randomFor }: NetworkParts) {
    this.#timeline = timeline
    this.#trace = trace
    this.#faults = faults
    this.#randomFor = randomFor
  }

  /** Keeps a process from the database for a while: neither what it sends arrives nor any answer, and nobody tells it. */
  cut(name: string, ms: number, markHit: MarkHit): void {
    this.#cuts.set(name, { until: this.#timeline.now + ms, markHit })
  }

  /** Leaves a process's links half open for a while: what it sends arrives, and no answer comes back. */
  halfOpen(name: string, ms: number, markHit: MarkHit): void {
    this.#hangs.set(name, { until: this.#timeline.now + ms, markHit })
  }

  /** The database is down for a while: every link breaks, and none is made until then. */
  breakAll(ms: number, markHit: MarkHit): void {
    this.#outages += 1
    this.#outage = { until: this.#timeline.now + ms, markHit }
  }

  /** Lets all statements whose name begins so take long for a while. */
  slowStatements(prefix: string, ms: number): void {
    this.#slowed = { prefix, until: this.#timeline.now + ms }
  }

  /** Whether a process waits for a statement that writes or takes. */
  isAwaited(name: string): boolean {
    return (this.#awaited.get(name) ?? 0) > 0
  }

  /** A process is dead: it waits for nothing any more. */
  forget(name: string): void {
    this.#awaited.delete(name)
  }

  /** Lets somebody act at the very moment a statement is sent, carried out or answered. Answers how to stop. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Carries a statement of a process to the database, and its answer back. */
  statement<T>(process: Participant, name: string, statement: string, run: () => T): Promise<T> {
    // What the dead still do in the turn of their death has no effect.
    const event = process.isDead ? 0 : process.begins()
    if (process.isDead) return new Promise(() => {})
    const transmission = this.#transmissionOf(name, statement)
    const answered = new Promise<T>((resolve, reject) => {
      const [sentAt, outages] = [this.#timeline.now, this.#outages]
      const exchange = { process, name, statement, transmission, sentAt, outages, resolve, reject }
      this.#await(exchange, 1)
      // What was sent arrives, also when its sender is dead by then.
      this.#timeline.in(transmission.thereMs, null, () => this.#arrive(exchange, run))
    })
    this.#reach(name, statement, 'sent')
    process.ended(event)
    return answered
  }

  /** Carries a notice to a process that listens: once, as a rule. */
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
      this.#hang(exchange, BEAT_MS_MAX)
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

  /** Lets the answer arrive, unless something befalls it on its way. */
  #return<T>(exchange: Exchange<T>, answer: Outcome<T>): void {
    const { process, name, statement, transmission } = exchange
    this.#timeline.in(transmission.backMs, process, () => {
      if (this.#isBroken(exchange)) this.#lose(exchange, 'after it ran')
      else if (this.#meets(this.#cuts.get(name), statement)) this.#hang(exchange, BEAT_MS_MAX)
      else if (this.#meets(this.#hangs.get(name), statement)) this.#hang(exchange)
      else this.#answer(exchange, answer)
    })
  }

  #lose<T>(exchange: Exchange<T>, where: string): void {
    const { process, name, statement, transmission } = exchange
    this.#trace.note(this.#timeline.now, name, `${statement} lost ${where}`)
    this.#timeline.in(transmission.backMs, process, () =>
      this.#answer(exchange, { thrown: new LinkLost(`the link broke ${where}`) }),
    )
  }

  /** Nothing comes back: the process gives the link up when it has waited for long enough. */
  #hang<T>(exchange: Exchange<T>, patienceMs = patienceOf(exchange.statement)): void {
    const { process, name, statement, sentAt } = exchange
    this.#trace.note(this.#timeline.now, name, `${statement} hangs`)
    this.#timeline.in(sentAt + patienceMs - this.#timeline.now, process, () =>
      this.#answer(exchange, { thrown: new LinkLost('no answer came') }),
    )
  }

  #answer<T>(exchange: Exchange<T>, answer: Outcome<T>): void {
    this.#await(exchange, -1)
    this.#reach(exchange.name, exchange.statement, 'answered')
    // Whoever is killed at this moment has not read the answer.
    if (exchange.process.isDead) return
    if ('value' in answer) exchange.resolve(answer.value)
    else exchange.reject(answer.thrown)
  }

  /** Chance for what a process sends, or hears, on the machine it runs on: its successors have the same. */
  #random(process: string, what: string): Random {
    const name = `${process.split('.')[0]} ${what}`
    const known = this.#randoms.get(name)
    if (known !== undefined) return known
    const chance = this.#randomFor(name)
    this.#randoms.set(name, chance)
    return chance
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
      return { ...drawn, backMs: BEAT_MS_MAX, fault: 'requestLost' }
    const effective = hasEffect(statement)
    // Who only looks is in nobody's way.
    const transmission = drawn.fault === 'conflict' && !effective ? { ...drawn, fault: null } : drawn
    if (transmission.isSlow) this.#faults.note('slow', effective, name, statement)
    if (transmission.fault !== null) this.#faults.note(transmission.fault, effective, name, statement)
    return transmission
  }

  #slowDown(name: string, statement: string, transmission: Transmission): Transmission {
    if (this.#slowed === undefined || this.#slowed.until <= this.#timeline.now) return transmission
    if (!statement.startsWith(this.#slowed.prefix)) return transmission
    const thereMs = transmission.thereMs + this.#random(name, 'drag').next() * SLOWED_MS_MAX
    return { ...transmission, thereMs, isSlow: true }
  }

  /** Whether the database is down, or has been since the statement was sent. */
  #isBroken<T>({ statement, outages }: Exchange<T>): boolean {
    return this.#meets(this.#outage, statement) || outages !== this.#outages
  }

  /** Whether a statement meets what lasts at present, which then has landed. */
  #meets(active: ActiveFault | undefined, statement: string): boolean {
    if (active === undefined || active.until <= this.#timeline.now) return false
    if (hasEffect(statement)) active.markHit()
    return true
  }
}

/** How long an answer is waited for. */
function patienceOf(statement: string): number {
  return statement === 'heartbeat' ? BEAT_MS_MAX : ANSWER_MS_MAX
}

type Outcome<T> = { readonly value: T } | { readonly thrown: unknown }

function outcomeOf<T>(run: () => T): Outcome<T> {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
