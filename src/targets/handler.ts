import {
  type AlarmView,
  assertInteger,
  assertName,
  assertPool,
  assertText,
  DEFAULT_LIMITS,
  lateness,
  occurrenceId,
  readPayload,
  type Target,
  viewOf,
} from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  INBOX,
  type TargetKind,
  type TargetObject,
} from './targets.ts'

/** The argument of a handler. */
export interface Fire {
  readonly alarm: AlarmView
  readonly occurrence: { readonly id: string; readonly scheduledFor: Date }
  readonly firedAt: Date
  /** How long after it was to wake, its jitter included, by the store's clock; never negative. */
  readonly driftMs: number
  /** From 1. */
  readonly attempt: number
  readonly payload: unknown
  /** The payload as JSON text, byte for byte; null where there is none. */
  readonly payloadJson: string | null
  readonly message: string
  /** Aborted when ownership is lost, the attempt times out, or the drain's bound is reached. */
  readonly signal: AbortSignal
  /** On a transactional handler: what it writes here commits with the settle, or not at all. */
  readonly tx: unknown
  /** Reports success with a text, for alarms that ask for a report. */
  complete(result?: string): void
  /** Reports failure: a failed attempt, as if thrown. */
  fail(reason: string): void
}

/** Runs when an alarm fires: returning is success, throwing is a failed attempt. */
export type Handler = (fire: Fire) => unknown

/** How a handler is run. */
export interface HandlerOptions {
  /** Give it `fire.tx`: one at a time, and short, since others wait for the write lock meanwhile. */
  readonly transactional?: boolean
  /** How long one attempt may take if the alarm does not set it (default 5 minutes). */
  readonly timeoutMs?: number
}

const HANDLER_TIMEOUT_MS = 300_000

interface Registered {
  readonly handler: Handler
  readonly options: HandlerOptions
}

/** Functions of the application, by name. */
export class HandlerTarget implements TargetKind {
  readonly kind = 'handler'
  readonly fields = ['handler', 'pool']
  readonly pool: string
  /** The pool of handlers that are named by their name alone. */
  readonly namesPool: string
  readonly #handlers = new Map<string, Registered>()

  constructor(pool: string, namesPool = pool) {
    this.pool = assertPool(pool)
    this.namesPool = assertPool(namesPool)
  }

  register(name: string, handler: Handler, options: HandlerOptions): void {
    assertName('name', name, 512)
    if (name === INBOX) throw new WakefulError('handler.name_reserved', { name: INBOX }, { field: 'name' })
    if (typeof handler !== 'function') throw new WakefulError('handler.not_function', { name })
    const { timeoutMs } = options
    if (timeoutMs !== undefined) assertInteger('timeoutMs', timeoutMs, 1, null)
    if (this.#handlers.has(name)) throw new WakefulError('handler.registered', { name }, { field: 'name' })
    this.#handlers.set(name, { handler, options })
  }

  parse({ handler, pool = this.namesPool }: TargetObject): Target {
    return { kind: 'handler', name: assertName('handler', handler, 512), pool: assertPool(pool) }
  }

  names(): readonly string[] {
    return [...this.#handlers.keys()]
  }

  canRun(target: Target): boolean {
    return this.#handlers.has(target.name)
  }

  isTransactional(target: Target): boolean {
    return this.#handlers.get(target.name)?.options.transactional === true
  }

  timeoutMs(target: Target): number {
    return this.#handlers.get(target.name)?.options.timeoutMs ?? HANDLER_TIMEOUT_MS
  }

  async deliver(delivery: Delivery): Promise<DeliveryReceipt> {
    const registered = this.#handlers.get(delivery.alarm.target.name)
    if (registered === undefined)
      throw new DeliveryFailure(`no handler ${delivery.alarm.target.name} is registered`)
    const result: HandlerResult = { report: null, failure: null }
    await registered.handler(new HandlerFire(delivery, result))
    if (result.failure !== null) throw new DeliveryFailure(result.failure)
    return { report: result.report }
  }
}

/** What a handler reported by `complete` or `fail`. */
interface HandlerResult {
  report: string | null
  failure: string | null
}

/** The argument of a handler. Its values are made only when they are read. */
class HandlerFire implements Fire {
  readonly #delivery: Delivery
  readonly #result: HandlerResult
  #alarm: Fire['alarm'] | undefined
  #payload: { value: unknown } | undefined

  constructor(delivery: Delivery, result: HandlerResult) {
    this.#delivery = delivery
    this.#result = result
  }

  get alarm(): Fire['alarm'] {
    const { alarm, timer } = this.#delivery
    this.#alarm ??= viewOf({ alarm, timers: [timer], outcome: null })
    return this.#alarm
  }

  get occurrence(): Fire['occurrence'] {
    const { alarm, timer } = this.#delivery
    return { id: occurrenceId(alarm, timer), scheduledFor: new Date(timer.scheduledFor) }
  }

  get firedAt(): Date {
    return new Date(this.#delivery.firedAt)
  }

  get driftMs(): number {
    const { alarm, timer, firedAt } = this.#delivery
    return lateness(alarm, timer, firedAt)
  }

  get attempt(): number {
    return this.#delivery.timer.attempt + 1
  }

  get payload(): unknown {
    const { payload } = this.#delivery.alarm
    this.#payload ??= { value: payload === null ? undefined : readPayload(payload) }
    return this.#payload.value
  }

  get payloadJson(): string | null {
    return this.#delivery.alarm.payload
  }

  get message(): string {
    return this.#delivery.alarm.message
  }

  get signal(): AbortSignal {
    return this.#delivery.signal
  }

  get tx(): unknown {
    if (this.#delivery.tx !== undefined) return this.#delivery.tx
    throw new WakefulError('handler.not_transactional', {})
  }

  complete(result = 'ok'): void {
    this.#result.report = assertText('result', result, DEFAULT_LIMITS.messageBytesMax)
  }

  fail(reason: string): void {
    this.#result.failure = errorText(reason)
  }
}
