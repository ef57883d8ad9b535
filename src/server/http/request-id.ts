/** What a request may be called: it is answered with and logged, so it must be short and harmless in a header. */
const WELL_FORMED = /^[\w.:+/=-]{1,128}$/
/** Keys, secrets, tokens of calendars and tickets begin so: what is answered with and logged must be none. */
const SECRET = /(?:wk|wf|wt|whsec)_/
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/

/** The id of a request: the caller's `x-request-id` where it is well-formed and no key, else a new one. */
export function requestId(given: string | null, make: () => string): string {
  return given !== null && WELL_FORMED.test(given) && !SECRET.test(given) ? given : make()
}

/** The trace a request belongs to, from its W3C `traceparent`; null where it has none. */
export function traceId(traceparent: string | undefined): string | null {
  const id = TRACEPARENT.exec(traceparent ?? '')?.[1]
  return id === undefined || /^0+$/.test(id) ? null : id
}
