import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import type { KeyView } from './key-registry.ts'

/** Who calls, with which rights, and the alarms they can see. */
export interface Caller {
  readonly tenant: string
  readonly owner: string
  readonly rights: Rights
  /** The public part of the key they sent; null on a server without keys. */
  readonly keyId: string | null
  /** The key, without its secret part. */
  readonly key: KeyView | null
  /** The hash of the key they sent: when the key gets another, live connections that use this one are ended. */
  readonly keyHash: string | null
  /** The interface they call through, which is recorded: `rest`, `ws`, `mcp`. */
  readonly via: string
  /** Their alarms and no others (promise: isolated). */
  readonly alarms: Alarms
}

const RANK: Readonly<Record<Rights, number>> = { read: 0, write: 1, admin: 2 }

/** Whether rights include what a call needs. */
export function includes(rights: Rights, needed: Rights): boolean {
  return RANK[rights] >= RANK[needed]
}

/** Throws if the caller does not have these rights. */
export function assertMay(caller: Caller, needed: Rights): void {
  if (!includes(caller.rights, needed))
    throw new WakefulError('access.rights', { needed, rights: caller.rights })
}

/** A name of an owner that is unique among all tenants. */
export function ownerName({ tenant, owner }: Pick<Caller, 'tenant' | 'owner'>): string {
  return JSON.stringify([tenant, owner])
}
