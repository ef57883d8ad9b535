import type { Caller } from './caller.ts'

/** Something an admin did: it is in the log, with who did it. */
export interface AdminAct {
  readonly act: string
  /** Who did it: the key's public part, or `local`. */
  readonly by: string
  readonly tenant: string
  /** What it was done to. */
  readonly about: Readonly<Record<string, unknown>>
}

/** Writes down what admins do. */
export type Audit = (act: AdminAct) => Promise<void>

/** An act of this caller. */
export function actOf(caller: Caller, act: string, about: Readonly<Record<string, unknown>>): AdminAct {
  return { act, by: caller.keyId ?? 'local', tenant: caller.tenant, about }
}
