import type { Target, TargetSpec } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Delivery, DeliveryReceipt, Dispatcher, TargetKind } from './target-kind.ts'

/** All kinds of targets of this process. */
export class Targets implements Dispatcher {
  readonly #kinds: ReadonlyMap<string, TargetKind>

  constructor(kinds: readonly TargetKind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
  }

  /** The same with more kinds, which are asked first. */
  with(kinds: readonly TargetKind[]): Targets {
    return new Targets([...kinds, ...this.#kinds.values()])
  }

  /** Reads what a user wrote as a target, or says what can be written. */
  parse(spec: TargetSpec): Target {
    if (typeof spec !== 'string' && (spec === null || typeof spec !== 'object')) {
      throw new WakefulError('target.malformed', { value: String(spec) })
    }
    for (const kind of this.#kinds.values()) {
      const target = kind.parse(spec)
      if (target !== undefined) return target
    }
    const fields = Object.keys(spec).join(', ')
    throw new WakefulError('target.unknown_kind', { value: fields, kinds: [...this.#kinds.keys()] })
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
