import {
  assertText,
  DEFAULT_LIMITS,
  lateness,
  occurrenceId,
  readPayload,
  type Target,
  type TargetSpec,
  viewOf,
} from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import { assertFields } from './fields.ts'
import type { Fire, Handler, HandlerOptions } from './fire.ts'
import { INBOX } from './inbox.ts'
import { assertPool } from './pools.ts'
import { type Delivery, DeliveryFailure, type DeliveryReceipt, type TargetKind } from './target-kind.ts'

const HANDLER_TIMEOUT_MS = 300_000

interface Registered {
  readonly handler: Handler
  readonly options: HandlerOptions
}

/** Functions of the application, by name. */
export class HandlerTarget implements TargetKind {
  readonly kind = 'handler'
  readonly pool: string
  /** The pool of handlers that are named by their name alone. */
  readonly #namesPool: string
  readonly #handlers = new Map<string, Registered>()

  constructor(pool: string, namesPool = pool) {
    this.pool = assertPool(pool)
    this.#namesPool = assertPool(namesPool)
  }

  register(name: string, handler: Handler, options: HandlerOptions): void {
    assertText('handler name', name, 512)
    if (name === '') throw new WakefulError('handler.name_missing', {})
    if (name === INBOX) throw new WakefulError('handler.name_reserved', { name: INBOX })
    if (typeof handler !== 'function') throw new WakefulError('handler.not_function', { name })
    const { timeoutMs } = options
    if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0)) {
      throw new WakefulError('handler.timeout', { name, value: String(timeoutMs) })
    }
    if (this.#handlers.has(name)) throw new WakefulError('handler.registered', { name })
    this.#handlers.set(name, { handler, options })
  }

  parse(spec: TargetSpec): Target | undefined {
    const { handler, pool = this.#namesPool } = typeof spec === 'string' ? { handler: spec } : spec
    if (handler === undefined) return undefined
    if (typeof spec !== 'string') assertFields(spec, ['handler', 'pool'], 'a handler')
    const name = assertText('target', handler, 512)
    if (name === '') throw new WakefulError('field.empty', {}, { field: 'target' })
    return { kind: 'handler', name, pool: assertPool(pool) }
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

  async deliver(errand: Delivery): Promise<DeliveryReceipt> {
    const registered = this.#handlers.get(errand.alarm.target.name)
    if (registered === undefined)
      throw new DeliveryFailure(`no handler ${errand.alarm.target.name} is registered`)
    const said: Said = { report: null, failure: null }
    await registered.handler(new HandlerFire(errand, said))
    if (said.failure !== null) throw new DeliveryFailure(said.failure)
    return { report: said.report }
  }
}

interface Said {
  report: string | null
  failure: string | null
}

/** What a handler is given; what it may never look at is made only when it does. */
class HandlerFire implements Fire {
  readonly #errand: Delivery
  readonly #said: Said
  #alarm: Fire['alarm'] | undefined
  #payload: { value: unknown } | undefined

  constructor(errand: Delivery, said: Said) {
    this.#errand = errand
    this.#said = said
  }

  get alarm(): Fire['alarm'] {
    const { alarm, timer } = this.#errand
    this.#alarm ??= viewOf({ alarm, timers: [timer], outcome: null })
    return this.#alarm
  }

  get occurrence(): Fire['occurrence'] {
    const { alarm, timer } = this.#errand
    return { id: occurrenceId(alarm, timer), scheduledFor: new Date(timer.scheduledFor) }
  }

  get firedAt(): Date {
    return new Date(this.#errand.firedAt)
  }

  get driftMs(): number {
    const { alarm, timer, firedAt } = this.#errand
    return lateness(alarm, timer, firedAt)
  }

  get attempt(): number {
    return this.#errand.timer.attempt + 1
  }

  get payload(): unknown {
    const { payload } = this.#errand.alarm
    this.#payload ??= { value: payload === null ? undefined : readPayload(payload) }
    return this.#payload.value
  }

  get payloadJson(): string | null {
    return this.#errand.alarm.payload
  }

  get message(): string {
    return this.#errand.alarm.message
  }

  get signal(): AbortSignal {
    return this.#errand.signal
  }

  get tx(): unknown {
    if (this.#errand.tx !== undefined) return this.#errand.tx
    throw new WakefulError('handler.not_transactional', {})
  }

  complete(result = 'ok'): void {
    this.#said.report = assertText('result', result, DEFAULT_LIMITS.messageBytesMax)
  }

  fail(reason: string): void {
    this.#said.failure = errorText(reason)
  }
}
