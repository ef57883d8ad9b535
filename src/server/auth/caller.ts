import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import type { KeyView } from './key-registry.ts'

/** Who calls, what they may do, and the alarms they can see. */
export interface Caller {
  readonly tenant: string
  readonly owner: string
  readonly rights: Rights
  /** The public part of the key they came with; null on a server without keys. */
  readonly keyId: string | null
  /** The key itself, as it may be shown. */
  readonly key: KeyView | null
  /** What is stored of the key's text they came with: once it is another, those who stay connected must leave. */
  readonly keyHash: string | null
  /** The door they came in by, for the record: `rest`, `ws`, `mcp`. */
  readonly via: string
  /** Their alarms, and nobody else's (promise: isolated). */
  readonly alarms: Alarms
}

const RANK: Readonly<Record<Rights, number>> = { read: 0, write: 1, admin: 2 }

/** Whether rights include what a call needs. */
export function includes(rights: Rights, needed: Rights): boolean {
  return RANK[rights] >= RANK[needed]
}

/** Refuses who may not do this. */
export function assertMay(caller: Caller, needed: Rights): void {
  if (!includes(caller.rights, needed))
    throw new WakefulError(
      'forbidden',
      `this needs a key with ${needed} rights; yours has ${caller.rights} rights`,
    )
}

/** An owner's name among those of all tenants. */
export function ownerName({ tenant, owner }: Pick<Caller, 'tenant' | 'owner'>): string {
  return JSON.stringify([tenant, owner])
}
