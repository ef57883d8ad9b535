/** Structured logs: requests, trouble, admin acts; nothing secret is in a line. */
export { type AdminAct, Log, type LogLevel, type LogOptions, type RequestLine } from './log.ts'
export { requestId, traceId } from './request-id.ts'
