import { contention } from '../../src/stores/postgres/connection/errors.ts'
import type { Random } from '../random.ts'
import { type Faults, isWeighty, type Landing } from './faults.ts'
import { LinkLost } from './store/wire.ts'
import type { Party, Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'
import { ANSWER_MS_MAX, BEAT_MS_MAX, CALM, type Fate, fateOf, newsFateOf, type Weather } from './conditions.ts'

/** Where a statement is: on its way, carried out and not yet answered, or answered. */
export type Point = 'sent' | 'ran' | 'answered'

/** Told of every statement at each of its points, before anybody else acts on it. */
type Watcher = (process: string, statement: string, point: Point) => void

/** What a network is made of. */
export interface NetworkParts {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly faults: Faults
  /** Chance for each link, by name. */
  readonly chanceOf: (name: string) => Random
}

/** What is wrong for a while: until when, in true time, and who is told that a statement met it. */
interface Spell {
  readonly until: number
  readonly land: Landing
}

/** A statement under way. */
interface Journey<T> {
  readonly process: Party
  readonly name: string
  readonly statement: string
  readonly fate: Fate
  readonly sentAt: number
  /** How often the database had gone down by then: its link is of that time. */
  readonly outages: number
  readonly resolve: (answer: T) => void
  readonly reject: (thrown: unknown) => void
}

const DRAG_MS_MAX = 800

/** What lies between the processes and the database. */
export class Network {
  weather: Weather = CALM
  readonly #timeline: Timeline
  readonly #trace: Trace
  readonly #faults: Faults
  readonly #chanceOf: (name: string) => Random
  readonly #chances = new Map<string, Random>()
  readonly #watchers = new Set<Watcher>()
  readonly #cuts = new Map<string, Spell>()
  readonly #hangs = new Map<string, Spell>()
  #outage: Spell | undefined
  /** Statements that begin so are slow until then. */
  #drag: { readonly prefix: string; readonly until: number } | undefined
  #outages = 0
  /** How many statements that write or take each process waits for. */
  readonly #awaited = new Map<string, number>()

  constructor({ timeline, trace, faults, chanceOf }: NetworkParts) {
    this.#timeline = timeline
    this.#trace = trace
    this.#faults = faults
    this.#chanceOf = chanceOf
  }

  /** Keeps a process from the database for a while: neither what it sends arrives nor any answer, and nobody tells it. */
  cut(name: string, ms: number, land: Landing): void {
    this.#cuts.set(name, { until: this.#timeline.now + ms, land })
  }

  /** Leaves a process's links half open for a while: what it sends arrives, and no answer comes back. */
  halfOpen(name: string, ms: number, land: Landing): void {
    this.#hangs.set(name, { until: this.#timeline.now + ms, land })
  }

  /** The database is down for a while: every link breaks, and none is made until then. */
  breakAll(ms: number, land: Landing): void {
    this.#outages += 1
    this.#outage = { until: this.#timeline.now + ms, land }
  }

  /** Lets all statements whose name begins so take long for a while. */
  drag(prefix: string, ms: number): void {
    this.#drag = { prefix, until: this.#timeline.now + ms }
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
  statement<T>(process: Party, name: string, statement: string, run: () => T): Promise<T> {
    // What the dead still do in the turn of their death has no effect.
    const event = process.isDead ? 0 : process.begins()
    if (process.isDead) return new Promise(() => {})
    const fate = this.#fateOf(name, statement)
    const answered = new Promise<T>((resolve, reject) => {
      const [sentAt, outages] = [this.#timeline.now, this.#outages]
      const journey = { process, name, statement, fate, sentAt, outages, resolve, reject }
      this.#await(journey, 1)
      // What was sent arrives, also when its sender is dead by then.
      this.#timeline.in(fate.thereMs, null, () => this.#arrive(journey, run))
    })
    this.#reach(name, statement, 'sent')
    process.ended(event)
    return answered
  }

  /** Carries a notice to a process that listens: once, as a rule. */
  news(name: string, receive: () => void): void {
    const { fault, lateMs } = newsFateOf(this.#chance(name, 'news'), this.weather)
    if (fault === null) {
      receive()
      return
    }
    this.#faults.note(fault, true, name)
    this.#trace.note(this.#timeline.now, name, fault)
    if (fault === 'newsDoubled') receive()
    if (fault !== 'newsLost') this.#timeline.in(lateMs, null, receive)
  }

  #arrive<T>(journey: Journey<T>, run: () => T): void {
    const { name, statement, fate } = journey
    if (fate.fault === 'lostThere' || this.#isBroken(journey)) {
      this.#lose(journey, 'before it ran')
      return
    }
    if (this.#meets(this.#cuts.get(name), statement)) {
      this.#hang(journey, BEAT_MS_MAX)
      return
    }
    this.#trace.note(this.#timeline.now, name, statement)
    const answer = fate.fault === 'conflict' ? { thrown: contention('deadlock detected') } : outcomeOf(run)
    this.#reach(name, statement, 'ran')
    if (fate.fault === 'lostBack') this.#lose(journey, 'after it ran')
    else if (fate.fault === 'hang') this.#hang(journey)
    else this.#return(journey, answer)
  }

  /** Lets the answer arrive, unless something befalls it on its way. */
  #return<T>(journey: Journey<T>, answer: Outcome<T>): void {
    const { process, name, statement, fate } = journey
    this.#timeline.in(fate.backMs, process, () => {
      if (this.#isBroken(journey)) this.#lose(journey, 'after it ran')
      else if (this.#meets(this.#cuts.get(name), statement)) this.#hang(journey, BEAT_MS_MAX)
      else if (this.#meets(this.#hangs.get(name), statement)) this.#hang(journey)
      else this.#answer(journey, answer)
    })
  }

  #lose<T>(journey: Journey<T>, where: string): void {
    const { process, name, statement, fate } = journey
    this.#trace.note(this.#timeline.now, name, `${statement} lost ${where}`)
    this.#timeline.in(fate.backMs, process, () =>
      this.#answer(journey, { thrown: new LinkLost(`the link broke ${where}`) }),
    )
  }

  /** Nothing comes back: the process gives the link up when it has waited for long enough. */
  #hang<T>(journey: Journey<T>, patienceMs = patienceOf(journey.statement)): void {
    const { process, name, statement, sentAt } = journey
    this.#trace.note(this.#timeline.now, name, `${statement} hangs`)
    this.#timeline.in(sentAt + patienceMs - this.#timeline.now, process, () =>
      this.#answer(journey, { thrown: new LinkLost('no answer came') }),
    )
  }

  #answer<T>(journey: Journey<T>, answer: Outcome<T>): void {
    this.#await(journey, -1)
    this.#reach(journey.name, journey.statement, 'answered')
    // Whoever is killed at this moment has not read the answer.
    if (journey.process.isDead) return
    if ('value' in answer) journey.resolve(answer.value)
    else journey.reject(answer.thrown)
  }

  /** Chance for what a process sends, or hears, on the machine it runs on: its successors have the same. */
  #chance(process: string, what: string): Random {
    const name = `${process.split('.')[0]} ${what}`
    const known = this.#chances.get(name)
    if (known !== undefined) return known
    const chance = this.#chanceOf(name)
    this.#chances.set(name, chance)
    return chance
  }

  #reach(name: string, statement: string, point: Point): void {
    for (const watcher of [...this.#watchers]) watcher(name, statement, point)
  }

  #await<T>({ name, statement }: Journey<T>, more: number): void {
    if (isWeighty(statement)) this.#awaited.set(name, (this.#awaited.get(name) ?? 0) + more)
  }

  #fateOf(name: string, statement: string): Fate {
    const drawn = this.#dragged(name, statement, fateOf(this.#chance(name, statement), this.weather))
    if (this.#meets(this.#cuts.get(name), statement))
      return { ...drawn, backMs: BEAT_MS_MAX, fault: 'lostThere' }
    const weighty = isWeighty(statement)
    // Who only looks is in nobody's way.
    const fate = drawn.fault === 'conflict' && !weighty ? { ...drawn, fault: null } : drawn
    if (fate.isSlow) this.#faults.note('slow', weighty, name, statement)
    if (fate.fault !== null) this.#faults.note(fate.fault, weighty, name, statement)
    return fate
  }

  #dragged(name: string, statement: string, fate: Fate): Fate {
    if (this.#drag === undefined || this.#drag.until <= this.#timeline.now) return fate
    if (!statement.startsWith(this.#drag.prefix)) return fate
    const thereMs = fate.thereMs + this.#chance(name, 'drag').next() * DRAG_MS_MAX
    return { ...fate, thereMs, isSlow: true }
  }

  /** Whether the database is down, or has been since the statement was sent. */
  #isBroken<T>({ statement, outages }: Journey<T>): boolean {
    return this.#meets(this.#outage, statement) || outages !== this.#outages
  }

  /** Whether a statement meets what lasts at present, which then has landed. */
  #meets(spell: Spell | undefined, statement: string): boolean {
    if (spell === undefined || spell.until <= this.#timeline.now) return false
    if (isWeighty(statement)) spell.land()
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
