/** Plain HTTP: reading requests and bodies, checking them against their contracts, and problem documents. */
export { crossOrigin } from './cors.ts'
export {
  answerBroken,
  answerEarly,
  answerSocket,
  answerUnreadable,
  problemResponse,
} from './early-answers.ts'
export { problemOf, refusal, retryAfter, STATUS_OF } from './problem.ts'
export {
  answerText,
  assertPlainNames,
  checked,
  disconnect,
  duplicateHeader,
  type HeaderReader,
  headersOf,
  nodeHeaders,
  readBody,
  refuseAmbiguous,
  requestId,
  traceOf,
  withCheckHost,
  withIdempotencyKey,
} from './request.ts'
