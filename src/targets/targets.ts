import type { Target, TargetSpec } from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { INBOX } from './inbox.ts'
import type { Delivery, DeliveryReceipt, Dispatcher, TargetKind, TargetObject } from './target-kind.ts'

/** All kinds of targets of this process. */
export class Targets implements Dispatcher {
  readonly #kinds: ReadonlyMap<string, TargetKind>

  constructor(kinds: readonly TargetKind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
  }

  /** The same with more kinds, which come first. */
  with(kinds: readonly TargetKind[]): Targets {
    return new Targets([...kinds, ...this.#kinds.values()])
  }

  /** Parses a target, or throws with what can be written. */
  parse(spec: TargetSpec): Target {
    if (typeof spec !== 'string' && (spec === null || typeof spec !== 'object')) {
      throw new WakefulError('target.malformed', { value: String(spec) })
    }
    const object = typeof spec === 'string' ? this.#named(spec) : spec
    const kinds = [...this.#kinds.keys()]
    const kind = this.#kinds.get(kinds.find((name) => Object.hasOwn(object, name)) ?? '')
    if (kind === undefined)
      throw new WakefulError('target.unknown_kind', { value: Object.keys(object).join(', '), kinds })
    const { title: target, fields: known } = kind
    const unknown = Object.keys(object).filter((name) => !known.includes(name))
    if (unknown.length > 0)
      throw new WakefulError('target.unknown_field', { target, names: unknown.map(display), known })
    return kind.parse(object)
  }

  /** A name alone is the inbox, or a handler. */
  #named(name: string): TargetObject {
    return name === INBOX && this.#kinds.has(INBOX) ? { inbox: true } : { handler: name }
  }

  names(): readonly string[] {
    return [...this.#kinds.values()].flatMap((kind) => kind.names())
  }

  canRun(target: Target): boolean {
    return this.#kinds.get(target.kind)?.canRun(target) ?? false
  }

  isTransactional(target: Target): boolean {
    return this.#kinds.get(target.kind)?.isTransactional(target) ?? false
  }

  timeoutMs(target: Target): number {
    return this.#kinds.get(target.kind)?.timeoutMs(target) ?? 1_000
  }

  deliver(delivery: Delivery): Promise<DeliveryReceipt> {
    const kind = this.#kinds.get(delivery.alarm.target.kind)
    if (kind === undefined)
      return Promise.reject(new Error(`no target of kind ${delivery.alarm.target.kind} is known here`))
    return kind.deliver(delivery)
  }
}
