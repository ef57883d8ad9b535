import type { Alarm, Target, TargetSpec, Timer } from '../alarm/index.ts'
import { aboutField, display, unknownField, WakefulError } from '../error.ts'
import { closest } from '../time/index.ts'

/** The name of the inbox: of its kind, and by itself a target. No handler may have it. */
export const INBOX = 'inbox'

/** A target as an object that names its kind: `{ webhook: 'https://…' }`. */
export type TargetObject = Exclude<TargetSpec, string>

/** One attempt at delivering an occurrence. */
export interface Delivery {
  readonly alarm: Alarm
  readonly timer: Timer
  readonly firedAt: number
  readonly signal: AbortSignal
  /** The open transaction of a transactional handler. */
  readonly tx: unknown
}

/** What the target answered. A throw is a failed attempt. */
export interface DeliveryReceipt {
  /** What the target reported in its answer. */
  readonly report: string | null
}

/** A failed attempt that says more than its message. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure'
  readonly retryAfterMs: number | undefined
  /** The target refuses for good: no retry. */
  readonly final: boolean
  /** The target is not there any more: no retry, and its alarm is cancelled. */
  readonly gone: boolean

  constructor(message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause })
    this.retryAfterMs = options.retryAfterMs
    this.final = options.final ?? false
    this.gone = options.gone ?? false
  }
}

interface FailureOptions {
  readonly retryAfterMs?: number
  readonly final?: boolean
  readonly gone?: boolean
  readonly cause?: unknown
}

/** Thrown when nothing was sent because the target cannot take it now: the occurrence waits, uncounted, and comes again. */
export class Postponed extends Error {
  override readonly name = 'Postponed'
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

/** A kind of target: where a fire can go. To add one, write this and register it in `hosts/`. */
export interface TargetKind {
  /** Also the field by which a target names its kind. */
  readonly kind: string
  /** The fields its targets may have; others are refused before `parse`. */
  readonly fields: readonly string[]
  /** Parses a target that names this kind, or throws. */
  parse(spec: TargetObject): Target
  deliver(delivery: Delivery): Promise<DeliveryReceipt>
  /** The names of targets that are registered in this process; none by default. */
  names?(): readonly string[]
  /** Whether this process can deliver to it now; always by default. */
  canRun?(target: Target): boolean
  /** Whether the delivery and its settle commit together; never by default. */
  isTransactional?(target: Target): boolean
  /** How long one attempt may take if the alarm does not set it; 30 seconds by default. */
  timeoutMs?(target: Target): number
}

/** What the engine sees of targets. */
export type Dispatcher = Required<Omit<TargetKind, 'kind' | 'fields' | 'parse'>>

const TIMEOUT_MS = 30_000

/** All kinds of targets of this process. */
export class Targets implements Dispatcher {
  readonly #kinds: ReadonlyMap<string, TargetKind>

  constructor(kinds: readonly TargetKind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
  }

  /** Parses the target in this field, or throws with what can be written. */
  parse(spec: TargetSpec, field: string): Target {
    if (typeof spec !== 'string' && (spec === null || typeof spec !== 'object' || Array.isArray(spec))) {
      throw new WakefulError('target.malformed', { value: display(spec) }, { field })
    }
    if (typeof spec === 'string' && spec.trim() === '') throw new WakefulError('field.empty', {}, { field })
    const object = typeof spec === 'string' ? this.#named(spec) : spec
    const kinds = [...this.#kinds.keys()]
    const kind = this.#kinds.get(kinds.find((name) => Object.hasOwn(object, name)) ?? '')
    if (kind === undefined) {
      const names = Object.keys(object)
      const params = { value: names.join(', ').slice(0, 200), kinds, near: closest(names[0] ?? '', kinds) }
      throw new WakefulError('target.unknown_kind', params, { field })
    }
    const unknown = Object.keys(object).find((name) => !kind.fields.includes(name))
    if (unknown !== undefined) throw unknownField(unknown, kind.fields, field)
    try {
      return kind.parse(object)
    } catch (thrown) {
      throw aboutField(field, thrown)
    }
  }

  /** A name alone is the inbox, or a handler. */
  #named(name: string): TargetObject {
    return name === INBOX && this.#kinds.has(INBOX) ? { inbox: true } : { handler: name }
  }

  names(): readonly string[] {
    return [...this.#kinds.values()].flatMap((kind) => kind.names?.() ?? [])
  }

  canRun(target: Target): boolean {
    const kind = this.#kinds.get(target.kind)
    return kind !== undefined && (kind.canRun?.(target) ?? true)
  }

  isTransactional(target: Target): boolean {
    return this.#kinds.get(target.kind)?.isTransactional?.(target) ?? false
  }

  timeoutMs(target: Target): number {
    return this.#kinds.get(target.kind)?.timeoutMs?.(target) ?? TIMEOUT_MS
  }

  deliver(delivery: Delivery): Promise<DeliveryReceipt> {
    const kind = this.#kinds.get(delivery.alarm.target.kind)
    if (kind === undefined)
      return Promise.reject(new Error(`no target of kind ${delivery.alarm.target.kind} is known here`))
    return kind.deliver(delivery)
  }
}
