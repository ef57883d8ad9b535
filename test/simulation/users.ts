import { WakefulError } from '../../src/error.ts'
import { rawJson } from '../../src/index.ts'
import type { Alarms, SetCallOptions } from '../../src/library/index.ts'
import type { Ask } from '../judge/entries.ts'
import { type Answer, callThrough, scopeText } from './calls.ts'
import type { Diary } from './diary.ts'
import { type Errand, type Move, messageOf, payloadOf } from './errand.ts'
import type { SimulatedProcess } from './process.ts'
import { instantsOf, type Timing, whenOf } from './timing.ts'
import type { World } from './world.ts'

/** What a dead process had sent has arrived after this long. */
const STRAY_MS = 6_000
const RETRY_MS = 400

/**
 * The users of a run: each sees to one alarm. He makes his calls one after the other, through any process that is up,
 * and after one that was not answered he waits until it can no longer be carried out.
 */
export class Users {
  readonly #world: World
  readonly #diary: Diary
  readonly #began: number
  /** Until when instants are foretold. */
  readonly #until: number

  constructor(world: World, diary: Diary, until: number) {
    this.#world = world
    this.#diary = diary
    this.#began = world.now
    this.#until = until
  }

  /** Sets the errand's alarm when it is time, and does to it what is planned. */
  async see(errand: Errand): Promise<void> {
    await this.#sleepTo(errand.atMs)
    let alarmId = await this.#ask(errand, errand.name, errand.timing, null)
    let moved = 0
    for (const move of errand.moves) {
      await this.#sleepTo(move.atMs)
      if (move.kind === 'move' && (errand.isKeyed || alarmId !== null)) {
        moved += 1
        const answered = await this.#ask(errand, `${errand.name}.${moved}`, move.timing!, alarmId)
        alarmId ??= answered
      } else if (alarmId !== null) await this.#do(errand, alarmId, move)
    }
  }

  /** Asks for an alarm, or moves it; answers with its id once it is known. */
  async #ask(errand: Errand, name: string, timing: Timing, alarmId: string | null): Promise<string | null> {
    const isMove = alarmId !== null && !errand.isKeyed
    const process = await this.#someProcess()
    this.#diary.add(this.#askOf(errand, name, timing, isMove ? alarmId : null, process))
    for (let tried = process; ; tried = await this.#someProcess()) {
      const when = whenOf(timing, this.#began)
      const answer = await this.#call(tried, errand, (alarms) =>
        isMove ? alarms.reschedule(alarmId, when) : alarms.set(when, optionsOf(errand)),
      )
      const at = this.#world.now
      if (answer.kind === 'yes') {
        this.#diary.add({ type: 'set', run: this.#diary.runOf(tried), name, alarmId: answer.value.id, at })
        return answer.value.id
      }
      if (answer.kind === 'no') {
        this.#diary.add({ type: 'refused', run: this.#diary.runOf(tried), name, at })
        return null
      }
      await this.#sleep(STRAY_MS)
      if (!errand.isRetried || isMove) return null
    }
  }

  #askOf(
    errand: Errand,
    name: string,
    timing: Timing,
    alarmId: string | null,
    process: SimulatedProcess,
  ): Ask {
    const at = this.#world.now
    return {
      type: 'ask',
      run: this.#diary.runOf(process),
      name,
      key: errand.isKeyed ? `key-${errand.name}` : null,
      instants: instantsOf(timing, this.#began, at - 1_000, this.#until),
      ack: errand.how === 'remote' || errand.how === 'inline' ? 'report' : 'delivery',
      toLog: errand.how === 'event',
      effect: errand.how === 'write',
      at,
      recurs: timing.kind !== 'once',
      payload: payloadOf(errand),
      message: messageOf(errand),
      scope: scopeText(errand.scope),
      ...(alarmId !== null && { alarmId }),
    }
  }

  async #do(errand: Errand, alarmId: string, { kind }: Move): Promise<void> {
    const process = await this.#someProcess()
    if (kind === 'cancel') return this.#cancel(process, errand, alarmId)
    if (kind === 'park') return this.#park(process, errand, alarmId)
    if (kind === 'unpark') return this.#unpark(process, errand, alarmId)
    return this.#snoop(process, errand, alarmId)
  }

  async #cancel(process: SimulatedProcess, errand: Errand, alarmId: string): Promise<void> {
    const run = this.#diary.runOf(process)
    this.#diary.add({ type: 'cancelling', run, alarmId, at: this.#world.now })
    const answer = await this.#call(process, errand, (alarms) => alarms.cancel(alarmId))
    if (answer.kind !== 'yes') return this.#sleep(STRAY_MS)
    const { outcome } = answer.value
    this.#diary.add({ type: 'cancel', run, alarmId, outcome, at: this.#world.now })
  }

  async #park(process: SimulatedProcess, errand: Errand, alarmId: string): Promise<void> {
    const run = this.#diary.runOf(process)
    this.#diary.add({ type: 'parking', run, alarmId, at: this.#world.now })
    const { kind } = await this.#call(process, errand, (alarms) => alarms.pause(alarmId))
    if (kind !== 'yes' && kind !== 'no') return this.#sleep(STRAY_MS)
    const outcome = kind === 'yes' ? 'parked' : 'refused'
    this.#diary.add({ type: 'parked', run, alarmId, outcome, at: this.#world.now })
  }

  async #unpark(process: SimulatedProcess, errand: Errand, alarmId: string): Promise<void> {
    const run = this.#diary.runOf(process)
    this.#diary.add({ type: 'unparking', run, alarmId, at: this.#world.now })
    const { kind } = await this.#call(process, errand, (alarms) => alarms.resume(alarmId))
    if (kind !== 'yes' && kind !== 'no') return this.#sleep(STRAY_MS)
    const outcome = kind === 'yes' ? 'unparked' : 'refused'
    this.#diary.add({ type: 'unparked', run, alarmId, outcome, at: this.#world.now })
  }

  /** Somebody else tries the alarm's id: for him there is no such thing. */
  async #snoop(process: SimulatedProcess, errand: Errand, alarmId: string): Promise<void> {
    const { tenant } = errand.scope
    const stranger = { tenant: tenant === 'acme' ? 'default' : 'acme', owner: 'eve' }
    const [call, make] = SNOOPS[process.random.between(0, SNOOPS.length - 1)]!
    const answer = await callThrough(process, stranger, (alarms) => make(alarms, alarmId))
    if (answer.kind === 'unknown') return
    const isHidden = answer.kind === 'trouble' && answer.code === 'not_found'
    this.#diary.add({
      type: 'snoop',
      run: this.#diary.runOf(process),
      call,
      answer: isHidden ? 'not_found' : JSON.stringify(answer),
    })
  }

  /** Makes a call through a process, and tells of what should not have happened. */
  async #call<T>(
    process: SimulatedProcess,
    errand: Errand,
    call: (alarms: Alarms) => Promise<T>,
  ): Promise<Answer<T>> {
    const answer = await callThrough(process, errand.scope, call)
    if (answer.kind === 'trouble')
      this.#diary.add({ type: 'trouble', run: this.#diary.runOf(process), text: answer.text })
    return answer
  }

  async #someProcess(): Promise<SimulatedProcess> {
    for (;;) {
      const up = this.#world.processes.filter((process) => process.isUp)
      if (up.length > 0) return up[this.#world.random.between(0, up.length - 1)]!
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

function optionsOf(errand: Errand): SetCallOptions {
  const { name, how, isKeyed, isRetried, maxFailures, priority, overlap } = errand
  const isReport = how === 'remote' || how === 'inline'
  return {
    target: how === 'event' ? { event: true } : how,
    payload: rawJson(payloadOf(errand)),
    message: messageOf(errand),
    label: name,
    maxFailures,
    backoff: { baseMs: 100, capMs: 1_500 },
    timeout: '3s',
    priority,
    ...(isKeyed && { key: `key-${name}` }),
    ...(isRetried && { idempotencyKey: `once-${name}` }),
    ...(isReport && { ack: 'report', completionTimeout: '3s', overlap }),
  }
}

/** What a stranger may try. */
const SNOOPS: readonly (readonly [string, (alarms: Alarms, id: string) => Promise<unknown>])[] = [
  ['get', async (alarms, id) => (await alarms.get(id)) ?? notFound()],
  ['cancel', (alarms, id) => alarms.cancel(id)],
  ['pause', (alarms, id) => alarms.pause(id)],
  ['complete', (alarms, id) => alarms.complete(id)],
  ['edit', (alarms, id) => alarms.edit(id, { label: 'mine' })],
  ['reschedule', (alarms, id) => alarms.reschedule(id, { delay: '1s' })],
  ['list', async (alarms) => ((await alarms.list()).items.length > 0 ? 'something' : notFound())],
]

function notFound(): never {
  throw new WakefulError('not_found', 'nothing')
}
