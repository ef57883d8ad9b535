/** Structured logs: requests, trouble, admin acts; nothing secret is in a line. */
export { Log, type LogLevel, type LogOptions, type RequestLine, requestLine } from './log.ts'
export { requestId, traceId } from './request-id.ts'
