import type { BuildContext, Scope, Target, TargetSpec } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Documents } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { DefaultTarget } from './api.ts'
import { CachedDocuments } from './cached-documents.ts'

/** What an alarm's target is where it names none, and its owner has a default. */
export const DEFAULT_SPEC: TargetSpec = { default: true }

/** Kinds that every process which serves the built-in targets can deliver to. */
const KINDS: ReadonlySet<string> = new Set(['webhook', 'inbox'])

interface OwnerRecord {
  readonly target: Target
}

/** Owners' default targets. They are looked up when an alarm fires: an agent that moves need not edit its alarms. */
export class DefaultTargets {
  readonly #shelf: CachedDocuments<OwnerRecord>

  constructor(documents: Documents, clock: Clock) {
    this.#shelf = new CachedDocuments(documents, clock, 'owner')
  }

  /** An owner's default target, perhaps as it was half a second ago. */
  async find(scope: Scope): Promise<Target | null> {
    return (await this.#shelf.get(nameOf(scope)))?.value.target ?? null
  }

  /** The same as one owner's calls see it. */
  of(scope: Scope, { target: parse }: Pick<BuildContext, 'target'>): DefaultTarget {
    const name = nameOf(scope)
    return {
      get: async () => {
        const found = await this.find(scope)
        return found && shown(found)
      },
      put: async (spec) => {
        const target = parse(spec)
        if (!KINDS.has(target.kind)) throw new WakefulError('target.not_as_default', { kind: target.kind })
        await this.#shelf.change(name, scope.tenant, () => ({ target }))
        return shown(target)
      },
      remove: () => this.#shelf.remove(name),
    }
  }
}

function nameOf({ tenant, owner }: Scope): string {
  return JSON.stringify([tenant, owner])
}

/** Without what may be a secret of the user's: a webhook's headers. */
function shown({ kind, name }: Target): TargetSpec {
  return kind === 'webhook' ? { webhook: name } : name
}
