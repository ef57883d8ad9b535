import type { Connection, Ending, Interceptor, PendingStatement } from './interceptor.ts'

/** A step: a statement was answered or waits for a lock, or an actor got its answer. */
export interface Step {
  readonly process: string
  readonly connection: string
  readonly what: string
  readonly outcome: string
}

/** A choice between connections. */
export interface Decision {
  /** The connections that could go, sorted by name. */
  readonly enabled: readonly string[]
  readonly chosen: string
  /** The previous connection, if it could continue. Choosing another is a preemption. */
  readonly current: string | null
}

/** The result of one schedule. */
export interface Ran {
  readonly steps: readonly Step[]
  readonly decisions: readonly Decision[]
  /** Why it did not finish, or null. */
  readonly stuck: string | null
  readonly deadlocks: number
}

/** Chooses the next connection. */
export type Choose = (enabled: readonly string[], current: string | null) => string

/** A concurrent call of a process. */
export interface Actor {
  readonly process: string
  readonly act: () => Promise<unknown>
}

/** What a scheduler needs. */
export interface SchedulePorts {
  readonly interceptors: readonly Interceptor[]
  /** Which of these connections wait for a lock of another one. */
  readonly blocked: (pids: readonly number[], among: readonly number[]) => Promise<ReadonlySet<number>>
  /** Waits until all notices were received. */
  readonly flushNotices: () => Promise<void>
  readonly note: (step: Step) => void
}

const STEPS_MAX = 600
const TURNS_MIN = 3
const TURNS_BUSY = 40
const STUCK_MS = 15_000
/** How long an answer is awaited before checking for a lock wait. */
const ANSWER_MS = 3

/** Runs actors statement by statement, in the chosen order, until all are done. */
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
    for (const interceptor of this.#ports.interceptors) interceptor.isActive = true
    for (const actor of actors) this.#start(actor)
    let stuck: string | null = null
    try {
      while ((await this.#quiet()) && this.#steps.length < STEPS_MAX) await this.#step()
      if (this.#steps.length >= STEPS_MAX) stuck = `it did not end within ${STEPS_MAX} steps`
    } catch (thrown) {
      stuck = thrown instanceof Stuck ? thrown.message : String(thrown)
    }
    for (const interceptor of this.#ports.interceptors) interceptor.isActive = false
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

  get #connections(): Connection[] {
    return this.#ports.interceptors.flatMap(({ connections }) => connections)
  }

  /** Makes one choice and runs it until all connections are idle or blocked again. */
  async #step(): Promise<void> {
    const ready = this.#connections.filter(({ waiting, sent }) => waiting.length > 0 && sent === null)
    if (ready.length === 0) return this.#awaitVictim()
    const calm = ready.filter(({ isSpinning }) => !isSpinning)
    const enabled = (calm.length > 0 ? calm : ready).map(({ name }) => name).sort()
    const current = this.#current !== null && enabled.includes(this.#current) ? this.#current : null
    const chosen = this.#choose(enabled, current)
    this.#decisions.push({ enabled, chosen, current })
    this.#current = chosen
    const connection = ready.find(({ name }) => name === chosen)!
    await this.#release(connection)
    await this.#freed()
  }

  /** Sends the connection's next statement, together with neutral ones before it. */
  async #release(connection: Connection): Promise<void> {
    for (;;) {
      const pending = connection.waiting.shift()!
      connection.last = pending.name
      await this.#send(connection, pending)
      if (!pending.isNeutral || connection.sent !== null) return
      await this.#quiet()
      if (connection.waiting.length === 0) return
    }
  }

  async #send(connection: Connection, pending: PendingStatement): Promise<void> {
    const sent: { pending: PendingStatement; ending: Ending | null } = { pending, ending: null }
    connection.sent = sent
    const ended = pending.send().then((ending) => {
      sent.ending = ending
    })
    await Promise.race([ended, sleep(ANSWER_MS)])
    await this.#untilKnown([connection])
    if (!(await this.#finishIfAnswered(connection))) this.#note(connection, pending.name, 'waits for a lock')
  }

  /** Continues what the last step unblocked: it is answered, or waits for another lock. */
  async #freed(): Promise<void> {
    for (;;) {
      const sent = this.#sent
      await this.#untilKnown(sent)
      let finished = 0
      for (const connection of sent) if (await this.#finishIfAnswered(connection)) finished += 1
      if (finished === 0) return
    }
  }

  get #sent(): Connection[] {
    return this.#connections.filter(({ sent }) => sent !== null)
  }

  async #finishIfAnswered(connection: Connection): Promise<boolean> {
    const { pending, ending } = connection.sent!
    if (ending === null) return false
    connection.sent = null
    await this.#finish(connection, pending, ending)
    return true
  }

  async #finish(connection: Connection, pending: PendingStatement, ending: Ending): Promise<void> {
    const outcome = 'rows' in ending ? `${ending.rows}` : `${ending.code} ${ending.message}`
    if ('code' in ending && ending.code === '40P01') this.#deadlocks += 1
    this.#note(connection, pending.name, outcome)
    if (pending.name === 'COMMIT') await this.#ports.flushNotices()
    ending.deliver()
  }

  #note(connection: Connection, what: string, outcome: string): void {
    const step = { process: connection.process, connection: connection.name, what, outcome }
    this.#steps.push(step)
    this.#ports.note(step)
  }

  /** Waits until each of these is answered, or waits for a lock of another one. */
  async #untilKnown(connections: readonly Connection[]): Promise<void> {
    const end = performance.now() + STUCK_MS
    for (;;) {
      const open = connections.filter(isUnanswered)
      if (open.length === 0) return
      const asked = open.filter(
        (connection) => !(connection.hasLockTimeout && this.#hasShortLockTimeout(connection.process)),
      )
      const pidsOf = (of: readonly Connection[]) => of.flatMap(({ pid }) => pid ?? [])
      const blocked = await this.#ports.blocked(pidsOf(asked), pidsOf(this.#connections))
      if (open.every((connection) => !isUnanswered(connection) || blocked.has(connection.pid ?? 0))) return
      if (performance.now() > end) throw new Stuck(`${open[0]!.name} got no answer`)
      await sleep(1)
    }
  }

  #hasShortLockTimeout(process: string): boolean {
    return (
      this.#ports.interceptors.find((interceptor) => interceptor.process === process)!.lockTimeoutMs < 1_000
    )
  }

  /** No connection can go and some wait for locks: a deadlock, which PostgreSQL ends. */
  async #awaitVictim(): Promise<void> {
    const sent = this.#sent
    const end = performance.now() + STUCK_MS
    while (sent.every(isUnanswered)) {
      if (performance.now() > end) throw new Stuck('all connections wait for locks, and none is released')
      await sleep(2)
    }
    await this.#freed()
  }

  /** Waits until every process has sent its next statement or is done. Returns whether any is not done. */
  async #quiet(): Promise<boolean> {
    const end = performance.now() + STUCK_MS
    for (let turn = 0; ; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (turn < TURNS_MIN) continue
      const silent = [...this.#unfinished].filter(
        ([process, count]) => count > 0 && !this.#isWaiting(process),
      )
      if (silent.length === 0) return [...this.#unfinished.values()].some((count) => count > 0)
      if (performance.now() > end) throw new Stuck(`${silent[0]![0]} neither sends a statement nor ends`)
      if (turn > TURNS_BUSY) await sleep(1)
    }
  }

  #isWaiting(process: string): boolean {
    const connections = this.#connections.filter((connection) => connection.process === process)
    return connections.some(({ waiting, sent }) => waiting.length > 0 || sent !== null)
  }

  /** Lets a stuck schedule run, so that its connections become free. */
  #letGo(): void {
    for (const connection of this.#connections)
      for (const pending of connection.waiting.splice(0))
        void pending.send().then((ending) => ending.deliver())
  }
}

function isUnanswered({ sent }: Connection): boolean {
  return sent !== null && sent.ending === null
}

class Stuck extends Error {}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
