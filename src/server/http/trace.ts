import { isTraceparent } from '../../alarm/index.ts'

/** A W3C trace that was given. A malformed one is no reason to refuse: the standard says to go on without it. */
export function traceOf(given: unknown): { readonly traceparent?: string } {
  return isTraceparent(given) ? { traceparent: given } : {}
}
