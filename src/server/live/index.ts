/** Long-lived connections: WebSockets and server-sent events. */
export { streamCall } from './event-stream.ts'
export { LIVE_LIMITS, type LiveOptions, type LiveParts } from './live.ts'
export { wsEndpoint } from './ws-endpoint.ts'
