import { errorText, WakefulError } from '../../src/error.ts'
import type { Alarms } from '../../src/library/index.ts'
import type { Scope } from './alarm-plan.ts'
import type { SimulatedProcess } from './process.ts'

/** The result of a call: answered, refused, unknown, or an unexpected error. */
export type Answer<T> =
  | { readonly kind: 'yes'; readonly value: T }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'error'; readonly code: string | null; readonly text: string }

/** Codes of expected refusals: the alarm had ended, or was firing. */
const REFUSALS: ReadonlySet<string> = new Set(['already_ended', 'conflict'])

/** Makes a call through a process. If the process dies, the result is unknown. */
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

/** The scope in the form the judge uses. */
export function scopeText({ tenant, owner }: Scope): string {
  return `${tenant}/${owner}`
}
