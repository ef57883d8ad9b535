/** Plain HTTP: reading requests and bodies, checking them against their contracts, and problem documents. */
export { readBody, withIdempotencyKey } from './body.ts'
export { assertPlainNames, checked } from './checked.ts'
export { crossOrigin } from './cors.ts'
export { assertLocal, isLoopback, isOwnOrigin, PROXIED } from './local-guard.ts'
export {
  answerText,
  disconnect,
  duplicateHeader,
  type HeaderReader,
  headersOf,
  NodeHeaders,
  requestId,
  traceOf,
} from './node-request.ts'
export { problemOf, refusal, retryAfter, STATUS_OF } from './problem.ts'
export { unknownField } from './wrong-fields.ts'
