import { WakefulError } from '../../src/error.ts'
import { rawJson } from '../../src/index.ts'
import type { Alarms, SetCallOptions } from '../../src/library/index.ts'
import type { Ask } from '../judge/entries.ts'
import type { Random } from '../random.ts'
import { type AlarmPlan, type Edit, messageOf, payloadOf } from './alarm-plan.ts'
import { type Answer, callThrough, scopeText } from './calls.ts'
import type { Ledger } from './ledger.ts'
import type { SimulatedProcess } from './process.ts'
import { instantsOf, type Timing, whenOf } from './timing.ts'
import type { World } from './world.ts'

/** What a user needs. */
export interface UserParts {
  readonly world: World
  readonly ledger: Ledger
  /** Occurrences later than this are misfires. */
  readonly graceMs: number
  /** When the world began. */
  readonly began: number
  /** Instants are computed up to this time. */
  readonly until: number
}

/** Statements of a dead process have arrived after this time. */
const STRAY_MS = 6_000
const RETRY_MS = 400
/** How long an alarm waits for a report. */
const REPORT_MS = 3_000
/** With `misfire: all`, older instants are skipped. */
const ALL_WITHIN_MS = 86_400_000
/** After this time, a call has been executed or never will be. */
const COUNTED_MS_MIN = 20_000
/** How long a user waits for a statement to race with. */
const MOMENT_MS_MAX = 3_000
const BACKOFF = { baseMs: 100, capMs: 1_500 }
/** The cap plus jitter. */
const RETRY_MS_MAX = BACKOFF.capMs * 1.1

/**
 * A user of one alarm. Calls are sequential, each through any process that is up. After an unanswered call, the user
 * waits until it can no longer be executed.
 */
export class User {
  readonly #plan: AlarmPlan
  readonly #world: World
  readonly #ledger: Ledger
  readonly #graceMs: number
  readonly #began: number
  readonly #until: number
  readonly #random: Random
  #alarmId: string | null = null
  /** The newest definition, and whether its call was answered. */
  #current: { readonly name: string; readonly timing: Timing; readonly isAnswered: boolean } | null = null
  /** Ends when the call under way is over. */
  #turn: Promise<void> = Promise.resolve()

  constructor(alarmPlan: AlarmPlan, { world, ledger, graceMs, began, until }: UserParts) {
    this.#plan = alarmPlan
    this.#world = world
    this.#ledger = ledger
    this.#graceMs = graceMs
    this.#began = began
    this.#until = until
    // Each user has a separate random stream, so that users do not affect each other's draws.
    this.#random = world.randomFor(`user ${alarmPlan.name}`)
  }

  /** Sets the alarm at its time and makes the planned calls. */
  async run(): Promise<void> {
    const { name, atMs, timing, isKeyed, edits } = this.#plan
    await this.#sleepTo(atMs)
    await this.#inTurn(() => this.#ask(name, timing))
    for (const [index, edit] of edits.entries()) {
      await this.#sleepTo(edit.atMs)
      await this.#awaitMoment(edit)
      const [isMove, newName] = [edit.timing !== undefined, `${name}.${index + 1}`]
      if (isMove && (isKeyed || this.#alarmId !== null))
        await this.#inTurn(() => this.#ask(newName, edit.timing!, edit.kind === 'snooze'))
      else if (this.#alarmId !== null) await this.#inTurn(() => this.#edit(edit, this.#alarmId!))
    }
  }

  /** What a program does when it starts: it declares the alarm as it is defined now. */
  declare(process: SimulatedProcess): Promise<void> {
    if (this.#plan.declaredBy === undefined) return Promise.resolve()
    return this.#inTurn(async () => {
      if (this.#current === null || !process.isUp) return
      const { name, timing, isAnswered } = this.#current
      const run = this.#ledger.runOf(process)
      const answer = await this.#call(process, (alarms) => this.#declareBy(alarms, name, timing))
      if (answer.kind !== 'yes') return this.#sleep(STRAY_MS)
      const { alarmId, isUnchanged } = answer.value
      const about = { run, name, alarmId, at: this.#world.now }
      if (isAnswered) return this.#ledger.add({ type: 'declared', ...about, isUnchanged })
      this.#current = { name, timing, isAnswered: true }
      this.#alarmId = alarmId
      return this.#ledger.add({ type: 'set', ...about })
    })
  }

  async #declareBy(alarms: Alarms, name: string, timing: Timing) {
    const { key, ...options } = optionsOf(this.#plan, name)
    const when = whenOf(timing, this.#began)
    if (this.#plan.declaredBy === 'set') {
      const view = await alarms.set(when, { key: key!, ...options })
      return { alarmId: view.id, isUnchanged: view.unchanged === true }
    }
    const list = { name: `list-${this.#plan.name}`, prune: true }
    const { unchanged, removed } = await alarms.apply([{ key: key!, when, ...options }], list)
    if (removed.length > 0) throw new Error(`apply removed ${removed.join(', ')}, which no list has declared`)
    return { alarmId: (await alarms.getByKey(key!))!.id, isUnchanged: unchanged.length === 1 }
  }

  /** The calls on an alarm are sequential. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work)
    this.#turn = done
    return done
  }

  /** Sets or reschedules the alarm. */
  async #ask(name: string, timing: Timing, isSnooze = false): Promise<void> {
    const { isRetried, isKeyed } = this.#plan
    const rescheduledId = isKeyed && !isSnooze ? null : this.#alarmId
    // It was never set, as far as its user knows; or the instant may have passed by the clock of the process.
    if (isSnooze && (rescheduledId === null || !this.#isFuture(timing))) return
    const when = whenOf(timing, this.#began)
    let process = await this.#someProcess()
    if (this.#isTooLateFor(timing)) return
    // A reschedule never turns a recurring alarm into a one-shot: it is refused. A set by key does.
    if (rescheduledId !== null && timing.kind === 'once' && this.#current?.timing.kind !== 'once') return
    this.#ledger.add(this.#askOf(name, timing, rescheduledId, this.#ledger.runOf(process)))
    this.#current = { name, timing, isAnswered: false }
    for (;;) {
      const answer = await this.#call(process, (alarms) => {
        if (this.#plan.declaredBy !== undefined) return this.#declareBy(alarms, name, timing)
        return rescheduledId === null
          ? idOf(alarms.set(when, optionsOf(this.#plan, name)))
          : idOf(isSnooze ? alarms.snooze(rescheduledId, when) : alarms.reschedule(rescheduledId, when))
      })
      const about = { run: this.#ledger.runOf(process), name, at: this.#world.now }
      if (answer.kind === 'no') return this.#ledger.add({ type: 'refused', ...about })
      if (answer.kind === 'yes') {
        const { alarmId } = answer.value
        this.#alarmId = alarmId
        this.#current = { name, timing, isAnswered: true }
        return this.#ledger.add({ type: 'set', alarmId, ...about })
      }
      await this.#sleep(STRAY_MS)
      if (!isRetried || rescheduledId !== null) return
      process = await this.#someProcess()
    }
  }

  /** Only an instant that is still to come can be snoozed to. */
  #isFuture(timing: Timing): boolean {
    return timing.kind === 'once' && timing.atMs > this.#world.timeline.now + COUNTED_MS_MIN
  }

  /** A count includes only future instants. A delayed user may be too late for that. */
  #isTooLateFor(timing: Timing): boolean {
    return 'count' in timing && timing.startMs < this.#world.timeline.now + COUNTED_MS_MIN
  }

  #askOf(name: string, timing: Timing, alarmId: string | null, run: number): Ask {
    const { target, isKeyed, scope, maxFailures, overlap } = this.#plan
    const at = this.#world.now
    return {
      type: 'ask',
      run,
      name,
      key: isKeyed ? `key-${this.#plan.name}` : null,
      instants: instantsOf(timing, this.#began, at - 1_000, this.#until),
      ack: target === 'remote' || target === 'inline' ? 'report' : 'delivery',
      toLog: target === 'event',
      effect: target === 'write',
      at,
      recurs: timing.kind !== 'once',
      // A reschedule by id keeps the payload of the set.
      payload: payloadOf(alarmId === null ? name : this.#plan.name),
      message: messageOf(alarmId === null ? name : this.#plan.name),
      retryMsMax: RETRY_MS_MAX,
      scope: scopeText(scope),
      reportMs: REPORT_MS,
      attemptsMax: maxFailures,
      skipsOnOverlap: overlap === 'skip',
      isExclusive: overlap !== 'allow' && (target === 'remote' || target === 'inline'),
      ...('misfire' in timing && { graceMs: timing.misfire === 'all' ? ALL_WITHIN_MS : this.#graceMs }),
      ...(alarmId !== null && { alarmId }),
    }
  }

  async #edit({ kind }: Edit, alarmId: string): Promise<void> {
    const process = await this.#someProcess()
    if (kind === 'cancel') return this.#cancel(process, alarmId)
    if (kind === 'pause') return this.#pause(process, alarmId)
    if (kind === 'resume') return this.#resume(process, alarmId)
    return this.#tryAsStranger(process, alarmId)
  }

  async #cancel(process: SimulatedProcess, alarmId: string): Promise<void> {
    const about = { run: this.#ledger.runOf(process), alarmId }
    this.#ledger.add({ type: 'cancelling', ...about, at: this.#world.now })
    const answer = await this.#call(process, (alarms) => alarms.cancel(alarmId))
    if (answer.kind !== 'yes') return this.#sleep(STRAY_MS)
    const { outcome } = answer.value
    return this.#ledger.add({ type: 'cancel', ...about, outcome, at: this.#world.now })
  }

  async #pause(process: SimulatedProcess, alarmId: string): Promise<void> {
    const about = { run: this.#ledger.runOf(process), alarmId }
    this.#ledger.add({ type: 'pausing', ...about, at: this.#world.now })
    const { kind } = await this.#call(process, (alarms) => alarms.pause(alarmId))
    if (kind !== 'yes' && kind !== 'no') return this.#sleep(STRAY_MS)
    const outcome = kind === 'yes' ? 'paused' : 'refused'
    return this.#ledger.add({ type: 'paused', ...about, outcome, at: this.#world.now })
  }

  async #resume(process: SimulatedProcess, alarmId: string): Promise<void> {
    const about = { run: this.#ledger.runOf(process), alarmId }
    this.#ledger.add({ type: 'resuming', ...about, at: this.#world.now })
    const { kind } = await this.#call(process, (alarms) => alarms.resume(alarmId))
    if (kind !== 'yes' && kind !== 'no') return this.#sleep(STRAY_MS)
    const outcome = kind === 'yes' ? 'resumed' : 'refused'
    return this.#ledger.add({ type: 'resumed', ...about, outcome, at: this.#world.now })
  }

  /** Uses the alarm's id as another owner, who must get `not_found`. */
  async #tryAsStranger(process: SimulatedProcess, alarmId: string): Promise<void> {
    const { tenant, owner } = this.#plan.scope
    const strangers = [
      { tenant, owner: 'eve' },
      { tenant: tenant === 'acme' ? 'default' : 'acme', owner: 'eve' },
      { tenant: 'elsewhere', owner },
    ]
    const stranger = strangers[this.#random.between(0, strangers.length - 1)]!
    const [call, make] = FOREIGN_CALLS[this.#random.between(0, FOREIGN_CALLS.length - 1)]!
    const answer = await callThrough(process, stranger, (alarms) => make(alarms, alarmId))
    if (answer.kind === 'unknown') return
    const isHidden = answer.kind === 'error' && answer.code === 'not_found'
    const outcome = isHidden ? 'not_found' : JSON.stringify(answer)
    this.#ledger.add({ type: 'foreign_access', run: this.#ledger.runOf(process), call, answer: outcome })
  }

  /** Makes a call through a process and records unexpected errors. */
  async #call<T>(process: SimulatedProcess, call: (alarms: Alarms) => Promise<T>): Promise<Answer<T>> {
    const answer = await callThrough(process, this.#plan.scope, call)
    if (answer.kind === 'error')
      this.#ledger.add({ type: 'error', run: this.#ledger.runOf(process), text: answer.text })
    return answer
  }

  /** Waits for the statement to race with, up to a limit. */
  #awaitMoment({ on }: Edit): Promise<void> {
    if (on === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const stop = this.#world.network.watch((_, statement, point) => {
        if (statement !== on.statement || point !== on.point) return
        stop()
        resolve()
      })
      this.#world.in(MOMENT_MS_MAX, () => {
        stop()
        resolve()
      })
    })
  }

  async #someProcess(): Promise<SimulatedProcess> {
    for (;;) {
      const up = this.#world.processes.filter((process) => process.isUp)
      if (up.length > 0) return up[this.#random.between(0, up.length - 1)]!
      await this.#sleep(RETRY_MS)
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.in(ms, resolve))
  }

  #sleepTo(ms: number): Promise<void> {
    return this.#sleep(Math.max(0, ms - this.#world.timeline.now))
  }
}

async function idOf(set: Promise<{ readonly id: string }>): Promise<{ readonly alarmId: string }> {
  return { alarmId: (await set).id }
}

function optionsOf(alarmPlan: AlarmPlan, asked: string): SetCallOptions {
  const { name, target, isKeyed, isRetried, maxFailures, priority, overlap } = alarmPlan
  const isReport = target === 'remote' || target === 'inline'
  return {
    target: target === 'event' ? { event: true } : target,
    payload: rawJson(payloadOf(asked)),
    message: messageOf(asked),
    label: name,
    maxFailures,
    backoff: BACKOFF,
    timeout: '3s',
    priority,
    ...(isKeyed && { key: `key-${name}` }),
    ...(isRetried && { idempotencyKey: `once-${name}` }),
    ...(isReport && { ack: 'report', completionTimeout: `${REPORT_MS}ms`, overlap }),
  }
}

/** The calls that another owner tries. */
const FOREIGN_CALLS: readonly (readonly [string, (alarms: Alarms, id: string) => Promise<unknown>])[] = [
  ['get', async (alarms, id) => (await alarms.get(id)) ?? notFound()],
  ['cancel', (alarms, id) => alarms.cancel(id)],
  ['pause', (alarms, id) => alarms.pause(id)],
  ['complete', (alarms, id) => alarms.complete(id)],
  ['edit', (alarms, id) => alarms.edit(id, { label: 'mine' })],
  ['reschedule', (alarms, id) => alarms.reschedule(id, { delay: '1s' })],
  ['list', async (alarms) => ((await alarms.list()).items.length > 0 ? 'something' : notFound())],
]

function notFound(): never {
  throw new WakefulError('alarm.not_found', { name: 'nothing' })
}
