import type { Fire } from '../../src/library/index.ts'
import { type AlarmPlan, nameIn, type Report, type Scope } from './alarm-plan.ts'
import { EFFECT } from './backend.ts'
import { callThrough, scopeText } from './calls.ts'
import type { Ledger } from './ledger.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

const EFFECT_AFTER_MS = 20_000
/** How long a message to a remote target travels: long enough for messages to overtake each other. */
const MESSAGE_MS_MAX = 400
/** How long after its start a process may register a handler. */
const HANDLED_AFTER_MS_MAX = 3_000

/** The targets of a run's alarms: the handlers of every process, and the remote services behind them. */
export class Workers {
  readonly #world: World
  readonly #ledger: Ledger
  readonly #alarms: ReadonlyMap<string, AlarmPlan>
  readonly #running = new Map<SimulatedProcess, number>()

  constructor(world: World, ledger: Ledger, alarms: readonly AlarmPlan[]) {
    this.#world = world
    this.#ledger = ledger
    this.#alarms = new Map(alarms.map((alarmPlan) => [alarmPlan.name, alarmPlan]))
  }

  /** Registers the handlers of a booting process. */
  registerHandlers(process: SimulatedProcess): void {
    const { wakeful } = process
    const work = (fire: Fire) => this.#counted(process, fire, () => this.#work(process, fire))
    // Some applications register handlers only after they started the engine. Due deliveries wait for them.
    if (process.random.chance(0.1))
      process.clock.setTimer(process.random.between(1, HANDLED_AFTER_MS_MAX), () =>
        wakeful.handle('work', work),
      )
    else wakeful.handle('work', work)
    wakeful.handle('inline', (fire) => this.#counted(process, fire, () => this.#reportAtOnce(process, fire)))
    wakeful.handle('remote', (fire) => this.#counted(process, fire, () => this.#passOn(process, fire)))
    const write = (fire: Fire) => this.#counted(process, fire, () => this.#write(process, fire))
    wakeful.handle('write', write, { transactional: true })
  }

  /** Counts the running deliveries of a process. Aborted ones are not counted. */
  async #counted(process: SimulatedProcess, fire: Fire, deliver: () => Promise<unknown>): Promise<void> {
    this.#count(process, 1)
    let isCounted = true
    const end = () => {
      if (isCounted) this.#count(process, -1)
      isCounted = false
    }
    fire.signal.addEventListener('abort', () => {
      end()
      if (fire.signal.reason !== 'drain') return
      const { occurrence, attempt } = fire
      this.#ledger.write(process, { type: 'drained', occurrenceId: occurrence.id, attempt })
    })
    try {
      await deliver()
    } finally {
      end()
    }
  }

  #count(process: SimulatedProcess, more: number): void {
    this.#running.set(process, (this.#running.get(process) ?? 0) + more)
  }

  async #work(process: SimulatedProcess, fire: Fire): Promise<AlarmPlan> {
    const alarmPlan = this.#begin(process, fire)
    const { workMs, failures, hangs } = alarmPlan.task
    if (hangs && fire.attempt === 1) await untilAborted(fire.signal)
    if (workMs > 0) await process.sleep(workMs)
    if (fire.attempt <= failures) throw new Error('meant to fail')
    return alarmPlan
  }

  async #reportAtOnce(process: SimulatedProcess, fire: Fire): Promise<void> {
    await this.#work(process, fire)
    fire.complete('done')
  }

  /** The follow-up alarm commits with the settle, or not at all. */
  async #write(process: SimulatedProcess, fire: Fire): Promise<void> {
    const alarmPlan = this.#begin(process, fire)
    const { workMs, failures } = alarmPlan.task
    await process.sleep(Math.min(workMs, 500))
    const later = new Date(this.#world.now + EFFECT_AFTER_MS)
    const options = { label: `${EFFECT}${fire.occurrence.id}`, target: { event: true as const }, tx: fire.tx }
    const { tenant, owner } = alarmPlan.scope
    await process.wakeful.forTenant(tenant, owner).set(later, options)
    if (fire.attempt <= failures) throw new Error('meant to fail')
  }

  /** Passes the delivery to a remote target. The message may arrive twice, and out of order. */
  async #passOn(process: SimulatedProcess, fire: Fire): Promise<void> {
    const alarmPlan = await this.#work(process, fire)
    // A process that dies within a turn has no further effect in that turn.
    if (process.isDead) return
    const { random } = process
    const copies = random.chance(0.1) ? 2 : 1
    for (let i = 0; i < copies; i++)
      for (const report of alarmPlan.task.reports) this.#reportLater(process, fire, alarmPlan, report)
  }

  #reportLater(process: SimulatedProcess, fire: Fire, { scope }: AlarmPlan, report: Report): void {
    const travelMs = process.random.next() * MESSAGE_MS_MAX
    this.#world.in(travelMs + report.afterMs, () => {
      const up = this.#world.processes.filter((each) => each.isUp)
      const through = up[Math.floor(travelMs) % up.length]
      if (through !== undefined) void this.#report(through, fire, scope, report)
    })
  }

  async #report(process: SimulatedProcess, fire: Fire, scope: Scope, { succeeded }: Report): Promise<void> {
    const options = { occurrenceId: fire.occurrence.id }
    const { id } = fire.alarm
    const answer = await callThrough(process, scope, (alarms) =>
      succeeded ? alarms.complete(id, 'done', options) : alarms.fail(id, 'not done', options),
    )
    if (answer.kind === 'yes')
      this.#ledger.write(process, { type: 'report', alarmId: id, ...options, succeeded, at: this.#world.now })
    if (answer.kind === 'error')
      this.#ledger.write(process, { type: 'error', text: `report: ${answer.text}` })
  }

  #begin(process: SimulatedProcess, fire: Fire): AlarmPlan {
    const { alarm, occurrence, attempt, payloadJson, message } = fire
    const name = nameIn(payloadJson ?? '')
    const alarmPlan = this.#alarms.get(name.split('.')[0]!)!
    const { failures, hangs } = alarmPlan.task
    this.#world.note(process.name, `delivers ${occurrence.id} attempt ${attempt}`)
    this.#ledger.write(process, {
      type: 'start',
      at: this.#world.now,
      name,
      alarmId: alarm.id,
      occurrenceId: occurrence.id,
      scheduledFor: occurrence.scheduledFor.getTime(),
      attempt,
      willFail: attempt <= failures || (hangs && attempt === 1) || alarmPlan.target === 'remote',
      process: process.name,
      owner: this.#world.backend.ownerOf(alarm.id),
      payload: payloadJson,
      message,
      scope: scopeText(alarm),
      running: this.#running.get(process) ?? 0,
    })
    return alarmPlan
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('broken off')))
  })
}
