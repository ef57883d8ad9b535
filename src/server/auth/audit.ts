import type { Caller } from './authenticator.ts'

/** Something an admin did, for the log. */
export interface AdminAct {
  readonly act: string
  /** Who did it: the key's public part, or `local`. */
  readonly by: string
  readonly tenant: string
  /** What it was about. */
  readonly about: Readonly<Record<string, unknown>>
}

/** Records what admins do. */
export type Audit = (act: AdminAct) => Promise<void>

/** An act by this caller. */
export function actOf(caller: Caller, act: string, about: Readonly<Record<string, unknown>>): AdminAct {
  return { act, by: caller.keyId ?? 'local', tenant: caller.tenant, about }
}
