import type { Ending, Gate, Held, Lane } from './interceptor.ts'

/** One thing that happened: a statement went and was answered, or waits for a lock, or an actor got its answer. */
export interface Step {
  readonly process: string
  readonly lane: string
  readonly what: string
  readonly outcome: string
}

/** A moment at which somebody had to be chosen. */
export interface Decision {
  /** Who could have gone, in the order of their names. */
  readonly enabled: readonly string[]
  readonly chosen: string
  /** Who went before, where they could have gone on: to choose another is a preemption. */
  readonly current: string | null
}

/** What came of one schedule. */
export interface Ran {
  readonly steps: readonly Step[]
  readonly decisions: readonly Decision[]
  /** Why it did not come to its end; null where it did. */
  readonly stuck: string | null
  readonly deadlocks: number
}

/** Chooses who goes next. */
export type Choose = (enabled: readonly string[], current: string | null) => string

/** Somebody who does something: its promise ends with it. */
export interface Actor {
  readonly process: string
  readonly act: () => Promise<unknown>
}

/** What a scheduler needs beside the gates. */
export interface SchedulePorts {
  readonly gates: readonly Gate[]
  /** Which of these connections wait for a lock that another of them holds. */
  readonly blocked: (pids: readonly number[], among: readonly number[]) => Promise<ReadonlySet<number>>
  /** Waits until what was notified has been heard. */
  readonly hearAll: () => Promise<void>
  readonly note: (step: Step) => void
}

const STEPS_MAX = 600
const TURNS_MIN = 3
const TURNS_BUSY = 40
const STUCK_MS = 15_000
/** How long an answer is waited for before anyone asks whether it waits for a lock. */
const ANSWER_MS = 3

/** Runs actors statement by statement, each when it is chosen, until all have their answers. */
export class Scheduler {
  readonly #ports: SchedulePorts
  readonly #choose: Choose
  readonly #steps: Step[] = []
  readonly #decisions: Decision[] = []
  readonly #unfinished = new Map<string, number>()
  #deadlocks = 0
  #current: string | null = null

  constructor(ports: SchedulePorts, choose: Choose) {
    this.#ports = ports
    this.#choose = choose
  }

  async run(actors: readonly Actor[]): Promise<Ran> {
    for (const gate of this.#ports.gates) gate.isShut = true
    for (const actor of actors) this.#start(actor)
    let stuck: string | null = null
    try {
      while ((await this.#quiet()) && this.#steps.length < STEPS_MAX) await this.#step()
      if (this.#steps.length >= STEPS_MAX) stuck = `it did not end within ${STEPS_MAX} steps`
    } catch (thrown) {
      stuck = thrown instanceof Stuck ? thrown.message : String(thrown)
    }
    for (const gate of this.#ports.gates) gate.isShut = false
    if (stuck !== null) this.#letGo()
    return { steps: this.#steps, decisions: this.#decisions, stuck, deadlocks: this.#deadlocks }
  }

  #start({ process, act }: Actor): void {
    this.#unfinished.set(process, (this.#unfinished.get(process) ?? 0) + 1)
    act().then(
      () => this.#unfinished.set(process, this.#unfinished.get(process)! - 1),
      () => this.#unfinished.set(process, this.#unfinished.get(process)! - 1),
    )
  }

  get #lanes(): Lane[] {
    return this.#ports.gates.flatMap(({ lanes }) => lanes)
  }

  /** One choice, and what follows of it until everybody stands still again. */
  async #step(): Promise<void> {
    const ready = this.#lanes.filter(({ waiting, flying }) => waiting.length > 0 && flying === null)
    if (ready.length === 0) return this.#awaitVictim()
    const calm = ready.filter(({ isSpinning }) => !isSpinning)
    const enabled = (calm.length > 0 ? calm : ready).map(({ name }) => name).sort()
    const current = this.#current !== null && enabled.includes(this.#current) ? this.#current : null
    const chosen = this.#choose(enabled, current)
    this.#decisions.push({ enabled, chosen, current })
    this.#current = chosen
    const lane = ready.find(({ name }) => name === chosen)!
    await this.#release(lane)
    await this.#freed()
  }

  /** Lets the lane's next statement go, with what has no effect before it. */
  async #release(lane: Lane): Promise<void> {
    for (;;) {
      const held = lane.waiting.shift()!
      lane.last = held.name
      await this.#fly(lane, held)
      if (!held.isGlue || lane.flying !== null) return
      await this.#quiet()
      if (lane.waiting.length === 0) return
    }
  }

  async #fly(lane: Lane, held: Held): Promise<void> {
    const flying: { held: Held; ending: Ending | null } = { held, ending: null }
    lane.flying = flying
    const ended = held.send().then((ending) => {
      flying.ending = ending
    })
    await Promise.race([ended, sleep(ANSWER_MS)])
    await this.#untilKnown([lane])
    if (!(await this.#landIfAnswered(lane))) this.#note(lane, held.name, 'waits for a lock')
  }

  /** What the step before has freed goes on: it is answered, or it waits for another lock. */
  async #freed(): Promise<void> {
    for (;;) {
      const flying = this.#flying
      await this.#untilKnown(flying)
      let landed = 0
      for (const lane of flying) if (await this.#landIfAnswered(lane)) landed += 1
      if (landed === 0) return
    }
  }

  get #flying(): Lane[] {
    return this.#lanes.filter(({ flying }) => flying !== null)
  }

  async #landIfAnswered(lane: Lane): Promise<boolean> {
    const { held, ending } = lane.flying!
    if (ending === null) return false
    lane.flying = null
    await this.#land(lane, held, ending)
    return true
  }

  async #land(lane: Lane, held: Held, ending: Ending): Promise<void> {
    const outcome = 'rows' in ending ? `${ending.rows}` : `${ending.code} ${ending.message}`
    if ('code' in ending && ending.code === '40P01') this.#deadlocks += 1
    this.#note(lane, held.name, outcome)
    if (held.name === 'COMMIT') await this.#ports.hearAll()
    ending.deliver()
  }

  #note(lane: Lane, what: string, outcome: string): void {
    const step = { process: lane.process, lane: lane.name, what, outcome }
    this.#steps.push(step)
    this.#ports.note(step)
  }

  /** Waits until each of these is answered, or waits for a lock that one of the others holds. */
  async #untilKnown(lanes: readonly Lane[]): Promise<void> {
    const end = performance.now() + STUCK_MS
    for (;;) {
      const open = lanes.filter(isUnanswered)
      if (open.length === 0) return
      const asked = open.filter((lane) => !(lane.hasLockTimeout && this.#isHasty(lane.process)))
      const pidsOf = (of: readonly Lane[]) => of.flatMap(({ pid }) => pid ?? [])
      const blocked = await this.#ports.blocked(pidsOf(asked), pidsOf(this.#lanes))
      if (open.every((lane) => !isUnanswered(lane) || blocked.has(lane.pid ?? 0))) return
      if (performance.now() > end) throw new Stuck(`${open[0]!.name} got no answer`)
      await sleep(1)
    }
  }

  #isHasty(process: string): boolean {
    return this.#ports.gates.find((gate) => gate.process === process)!.lockTimeoutMs < 1_000
  }

  /** Nobody can go and somebody waits for a lock: a deadlock, which PostgreSQL ends. */
  async #awaitVictim(): Promise<void> {
    const flying = this.#flying
    const end = performance.now() + STUCK_MS
    while (flying.every(isUnanswered)) {
      if (performance.now() > end) throw new Stuck('everybody waits for a lock, and nobody is let go')
      await sleep(2)
    }
    await this.#freed()
  }

  /** Waits until every process has said what it wants next; answers whether anybody wants something. */
  async #quiet(): Promise<boolean> {
    const end = performance.now() + STUCK_MS
    for (let turn = 0; ; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (turn < TURNS_MIN) continue
      const silent = [...this.#unfinished].filter(([process, count]) => count > 0 && !this.#isHeard(process))
      if (silent.length === 0) return [...this.#unfinished.values()].some((count) => count > 0)
      if (performance.now() > end) throw new Stuck(`${silent[0]![0]} neither asks nor ends`)
      if (turn > TURNS_BUSY) await sleep(1)
    }
  }

  #isHeard(process: string): boolean {
    const lanes = this.#lanes.filter((lane) => lane.process === process)
    return lanes.some(({ waiting, flying }) => waiting.length > 0 || flying !== null)
  }

  /** A schedule that got stuck is let run, so that its connections come free again. */
  #letGo(): void {
    for (const lane of this.#lanes)
      for (const held of lane.waiting.splice(0)) void held.send().then((ending) => ending.deliver())
  }
}

function isUnanswered({ flying }: Lane): boolean {
  return flying !== null && flying.ending === null
}

class Stuck extends Error {}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
