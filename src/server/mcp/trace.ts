const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** A W3C trace that was given. A malformed one is no reason to refuse: the standard says to go on without it. */
export function traceOf(given: unknown): { readonly traceparent?: string } {
  return typeof given === 'string' && TRACEPARENT.test(given) ? { traceparent: given } : {}
}
