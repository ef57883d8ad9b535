import { errorText, WakefulError } from '../../src/error.ts'
import type { Alarms } from '../../src/library/index.ts'
import type { Scope } from './alarm-plan.ts'
import type { SimulatedProcess } from './process.ts'

/** What a call came to: answered, refused for certain, perhaps done and perhaps not, or what should not happen. */
export type Answer<T> =
  | { readonly kind: 'yes'; readonly value: T }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'error'; readonly code: string | null; readonly text: string }

/** Codes by which a call is refused in the ordinary course of things: the alarm had ended, or was firing just then. */
const REFUSALS: ReadonlySet<string> = new Set(['already_ended', 'conflict'])

/** Makes a call through a process; whoever waits for a dead one does not know what became of it. */
export function callThrough<T>(
  process: SimulatedProcess,
  scope: Scope,
  call: (alarms: Alarms) => Promise<T>,
): Promise<Answer<T>> {
  const { tenant, owner } = scope
  const answer = answerOf(call(process.wakeful.forTenant(tenant, owner)))
  return Promise.race([answer, process.died.then((): Answer<T> => ({ kind: 'unknown' }))])
}

async function answerOf<T>(call: Promise<T>): Promise<Answer<T>> {
  try {
    return { kind: 'yes', value: await call }
  } catch (thrown) {
    const code = thrown instanceof WakefulError ? thrown.code : null
    if (code === 'store_unavailable') return { kind: 'unknown' }
    if (code !== null && REFUSALS.has(code)) return { kind: 'no' }
    return { kind: 'error', code, text: errorText(thrown) }
  }
}

/** A scope as the judge names it. */
export function scopeText({ tenant, owner }: Scope): string {
  return `${tenant}/${owner}`
}
