import type { FieldContext, Scope, Target, TargetSpec } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { CachedDocuments } from './cached-documents.ts'
import type { HandlerNames } from './handler-names.ts'

/** The target of alarms that name none: of an owner, or of a tenant's owners that have no default target of their own. */
export interface DefaultTarget {
  get(): Promise<TargetSpec | null>
  put(target: TargetSpec): Promise<TargetSpec>
  /** Removes it; returns whether there was one. */
  remove(): Promise<boolean>
}

/** The target of an alarm that names none, if its owner has a default. */
export const DEFAULT_SPEC: TargetSpec = { default: true }

/** Kinds that every process which serves the built-in targets can deliver to. */
const KINDS: ReadonlySet<string> = new Set(['webhook', 'inbox'])

/** Whose default target it is: an owner's, or a tenant's, which its owners without one of their own use. */
type Holder = Scope | Pick<Scope, 'tenant'>

interface TargetRecord {
  readonly target: Target
}

interface DefaultTargetParts {
  readonly documents: Documents
  readonly clock: Clock
  readonly parse: FieldContext['target']
  readonly handlerNames: HandlerNames
  /** The default target of this process, where neither owner nor tenant has one. */
  readonly ofProcess: TargetSpec | undefined
}

/**
 * The default targets of owners and tenants, and that of the process. They are looked up when an alarm fires: an agent that
 * moves need not edit its alarms.
 */
export class DefaultTargets {
  readonly #documents: CachedDocuments<TargetRecord>
  readonly #parse: FieldContext['target']
  readonly #handlerNames: HandlerNames
  readonly #ofProcess: Target | null

  constructor({ documents, clock, parse, handlerNames, ofProcess }: DefaultTargetParts) {
    this.#documents = new CachedDocuments(documents, clock, 'owner')
    this.#parse = parse
    this.#handlerNames = handlerNames
    this.#ofProcess = ofProcess === undefined ? null : this.#parsed(ofProcess, 'defaultTarget')
  }

  /** Where an owner's alarms without a target go, perhaps as it was half a second ago. */
  async find(scope: Scope): Promise<Target | null> {
    return (await this.#stored(scope)) ?? (await this.#stored({ tenant: scope.tenant })) ?? this.#ofProcess
  }

  /** The calls about the default target of one owner or tenant. */
  of(holder: Holder): DefaultTarget {
    const name = nameOf(holder)
    return {
      get: async () => {
        const found = await this.#stored(holder)
        return found && publicSpec(found)
      },
      put: async (spec) => {
        const judge = await this.#handlerNames.judge([{ target: spec }])
        judge({ target: spec })
        const target = this.#parsed(spec, 'target')
        await this.#documents.change(name, holder.tenant, () => ({ target }))
        return publicSpec(target)
      },
      remove: () => this.#documents.remove(name),
    }
  }

  async #stored(holder: Holder): Promise<Target | null> {
    return (await this.#documents.get(nameOf(holder)))?.value.target ?? null
  }

  #parsed(spec: TargetSpec, field: string): Target {
    const target = this.#parse(spec, field)
    if (KINDS.has(target.kind)) return target
    throw new WakefulError('target.not_as_default', { kind: target.kind }, { field })
  }
}

function nameOf(holder: Holder): string {
  return JSON.stringify('owner' in holder ? [holder.tenant, holder.owner] : [holder.tenant])
}

/** Without a webhook's headers, which may contain secrets. */
function publicSpec({ kind, name }: Target): TargetSpec {
  return kind === 'webhook' ? { webhook: name } : name
}
