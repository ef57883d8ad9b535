import type { FieldContext, Scope, Target, TargetSpec } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Documents } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { DefaultTarget } from './api.ts'
import { CachedDocuments } from './cached-documents.ts'
import type { HandlerNames } from './handler-names.ts'

/** The target of an alarm that names none, if its owner has a default. */
export const DEFAULT_SPEC: TargetSpec = { default: true }

/** Kinds that every process which serves the built-in targets can deliver to. */
const KINDS: ReadonlySet<string> = new Set(['webhook', 'inbox'])

interface OwnerRecord {
  readonly target: Target
}

/** Owners' default targets. They are looked up when an alarm fires: an agent that moves need not edit its alarms. */
export class DefaultTargets {
  readonly #documents: CachedDocuments<OwnerRecord>

  constructor(documents: Documents, clock: Clock) {
    this.#documents = new CachedDocuments(documents, clock, 'owner')
  }

  /** An owner's default target, perhaps as it was half a second ago. */
  async find(scope: Scope): Promise<Target | null> {
    return (await this.#documents.get(nameOf(scope)))?.value.target ?? null
  }

  /** The calls of one owner. */
  of(scope: Scope, { target: parse }: Pick<FieldContext, 'target'>, names: HandlerNames): DefaultTarget {
    const name = nameOf(scope)
    return {
      get: async () => {
        const found = await this.find(scope)
        return found && publicSpec(found)
      },
      put: async (spec) => {
        const judge = await names.judge([{ target: spec }])
        judge.assertMeant({ target: spec })
        const target = parse(spec, 'target')
        if (!KINDS.has(target.kind))
          throw new WakefulError('target.not_as_default', { kind: target.kind }, { field: 'target' })
        await this.#documents.change(name, scope.tenant, () => ({ target }))
        return publicSpec(target)
      },
      remove: () => this.#documents.remove(name),
    }
  }
}

function nameOf({ tenant, owner }: Scope): string {
  return JSON.stringify([tenant, owner])
}

/** Without a webhook's headers, which may contain secrets. */
function publicSpec({ kind, name }: Target): TargetSpec {
  return kind === 'webhook' ? { webhook: name } : name
}
