import type { AlarmView, Fire, SetOptions, Wakeful, When } from '../../src/index.ts'
import { WakefulError } from '../../src/index.ts'
import type { Ask } from '../judge/entries.ts'
import type { Random } from '../random.ts'
import type { Ledger } from './ledger.ts'

const CALLERS = 8
const KEYS_PER_CALLER = 4
/** Kills must not use up the attempts: a failed alarm would excuse a lost delivery. */
const MAX_FAILURES = 100_000

/** What an alarm's handler does; part of the payload. */
export interface Task {
  readonly name: string
  readonly workMs: number
  /** How many of the first attempts fail. */
  readonly failures: number
  readonly report: 'inline' | 'later' | 'never'
}

/** The environment of a workload: what differs between stores. */
export interface WorkloadEnvironment {
  /** The store's clock. */
  readonly now: () => number
  /** Writes the row of a transactional handler. */
  readonly effect: (tx: unknown, occurrenceId: string, run: number) => unknown
  /** Whether an error says that the store is unavailable, so that the outcome of the call is unknown. */
  readonly isOutage: (thrown: unknown) => boolean
}

const OUTAGE_WAIT_MS = 50

/** Sets and cancels continuously from several concurrent callers, and records requests and answers. */
export class Workload {
  readonly #wakeful: Wakeful
  readonly #ledger: Ledger
  readonly #random: Random
  readonly #run: number
  readonly #slot: number
  readonly #environment: WorkloadEnvironment
  #asked = 0
  #stopped = false

  constructor(
    wakeful: Wakeful,
    ledger: Ledger,
    random: Random,
    run: number,
    slot: number,
    environment: WorkloadEnvironment = SQLITE_ENVIRONMENT,
  ) {
    this.#environment = environment
    this.#wakeful = wakeful
    this.#ledger = ledger
    this.#random = random
    this.#run = run
    this.#slot = slot
  }

  /** Runs until `stop`. Resolves when every caller has been answered. */
  async go(): Promise<void> {
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.#call(caller)))
  }

  stop(): void {
    this.#stopped = true
  }

  async #call(caller: number): Promise<void> {
    // Keys belong to one caller, so that the ledger order of sets and cancels of a key is their time order.
    const own: AlarmView[] = []
    while (!this.#stopped) {
      const action = this.#random.weighted([[8, 'set'] as const, [2, 'cancel'] as const])
      try {
        if (action === 'set') own.push(await this.#set(caller))
        else if (own.length > 0) await this.#cancel(own[this.#random.between(0, own.length - 1)]!)
      } catch (thrown) {
        if (!this.#environment.isOutage(thrown)) throw thrown
        this.#ledger.write({ type: 'unavailable', run: this.#run, text: String(thrown) })
        await new Promise((resolve) => setTimeout(resolve, OUTAGE_WAIT_MS))
      }
      if (own.length > 50) own.shift()
      await new Promise((resolve) => setTimeout(resolve, this.#random.between(0, 25)))
    }
  }

  async #set(caller: number): Promise<AlarmView> {
    const random = this.#random
    const kind = random.weighted([
      [40, 'once'],
      [20, 'keyed'],
      [6, 'every'],
      [16, 'report'],
      [14, 'transactional'],
      [8, 'event'],
    ] as const)
    this.#asked += 1
    const name = `${this.#run}.${this.#slot}.${this.#asked}`
    const key = kind === 'keyed' ? `key-${this.#slot}-${caller}-${random.between(1, KEYS_PER_CALLER)}` : null
    const delay = random.weighted([[1, -20] as const, [6, random.between(0, 400)], [1, 1500]])
    // Past instants of an interval are not owed: it starts with the next one.
    const first = this.#environment.now() + (kind === 'every' ? Math.max(1_000, delay) : delay)
    const count = kind === 'every' ? random.between(2, 4) : 1
    const options = this.#options(kind, name)
    const ask: Ask = {
      type: 'ask',
      run: this.#run,
      name,
      key,
      instants: Array.from({ length: count }, (_, i) => first + i * 1000),
      ack: kind === 'report' ? 'report' : 'delivery',
      toLog: kind === 'event',
      effect: kind === 'transactional',
      at: this.#environment.now(),
      payload: JSON.stringify(options.payload),
      message: options.message!,
    }
    const when: When = kind === 'every' ? { every: '1s', start: new Date(first), count } : new Date(first)
    this.#ledger.write(ask)
    const alarm = await this.#wakeful.set(when, { ...options, ...(key !== null && { key }) })
    this.#ledger.write({ type: 'set', run: this.#run, name, alarmId: alarm.id, at: this.#environment.now() })
    return alarm
  }

  #options(kind: string, name: string): SetOptions {
    const random = this.#random
    const task: Task = {
      name,
      workMs: kind === 'transactional' ? random.between(0, 2) : random.between(0, 60),
      failures: random.chance(0.1) ? random.between(1, 2) : 0,
      report: random.weighted([[3, 'inline'] as const, [3, 'later'] as const, [1, 'never'] as const]),
    }
    const target = kind === 'event' ? { event: true } : kind === 'transactional' ? 'write' : kind
    return {
      target: kind === 'once' || kind === 'keyed' || kind === 'every' ? 'work' : target,
      payload: task,
      message: `wake ${name}`,
      maxFailures: MAX_FAILURES,
      backoff: { baseMs: 20, capMs: 100 },
      priority: random.between(-1, 1),
      ...(kind === 'report' && { ack: 'report' as const, completionTimeout: '1s' }),
    }
  }

  async #cancel(alarm: AlarmView): Promise<void> {
    const [run, { now }, alarmId] = [this.#run, this.#environment, alarm.id]
    this.#ledger.write({ type: 'cancelling', run, alarmId, at: now() })
    const { outcome } = await this.#wakeful.cancel(alarmId)
    this.#ledger.write({ type: 'cancel', run, alarmId, outcome, at: now() })
  }
}

const SQLITE_ENVIRONMENT: WorkloadEnvironment = {
  now: () => Date.now(),
  effect: (tx, occurrenceId, run) => {
    const db = tx as import('node:sqlite').DatabaseSync
    db.prepare('INSERT INTO chaos_effects (occurrence, run) VALUES (?, ?)').run(occurrenceId, run)
  },
  isOutage: () => false,
}

/** Registers the handlers of the workload's alarms. */
export function handleAll(
  wakeful: Wakeful,
  ledger: Ledger,
  run: number,
  environment: WorkloadEnvironment = SQLITE_ENVIRONMENT,
): void {
  const begin = (fire: Fire): Task => {
    const task = fire.payload as Task
    ledger.write({
      type: 'start',
      run,
      at: environment.now(),
      name: task.name,
      alarmId: fire.alarm.id,
      occurrenceId: fire.occurrence.id,
      scheduledFor: fire.occurrence.scheduledFor.getTime(),
      attempt: fire.attempt,
      willFail: fire.attempt <= task.failures,
      payload: fire.payloadJson,
      message: fire.message,
    })
    return task
  }
  const work = async (fire: Fire): Promise<Task> => {
    const task = begin(fire)
    if (task.workMs > 0) await new Promise((resolve) => setTimeout(resolve, task.workMs))
    if (fire.attempt <= task.failures) throw new Error('meant to fail')
    return task
  }
  wakeful.handle('work', work)
  wakeful.handle('report', async (fire) => {
    const { report } = await work(fire)
    if (report === 'inline') fire.complete('done')
    if (report === 'later') setTimeout(() => void reportLater(wakeful, ledger, run, fire, environment), 30)
  })
  wakeful.handle(
    'write',
    async (fire) => {
      const task = begin(fire)
      await environment.effect(fire.tx, fire.occurrence.id, run)
      if (task.workMs > 0) await new Promise((resolve) => setTimeout(resolve, task.workMs))
      if (fire.attempt <= task.failures) throw new Error('meant to fail')
    },
    { transactional: true },
  )
}

async function reportLater(
  wakeful: Wakeful,
  ledger: Ledger,
  run: number,
  fire: Fire,
  environment: WorkloadEnvironment,
): Promise<void> {
  try {
    await wakeful.complete(fire.alarm.id, 'done later', { occurrenceId: fire.occurrence.id })
  } catch (thrown) {
    // It may have been cancelled, timed out or reported, or the store may have closed meanwhile.
    if (environment.isOutage(thrown)) return
    const { code, reason } = thrown instanceof WakefulError ? thrown : {}
    const isClosed = reason === 'store.closed' || reason === 'host.closed'
    if (code === 'already_ended' || code === 'conflict' || isClosed) return
    ledger.write({ type: 'error', run, text: `complete: ${String(thrown)}` })
  }
}
