/** Long-lived connections: WebSockets and server-sent events. */
export { streamCall } from './event-stream.ts'
export { type LiveOptions, liveParts } from './live.ts'
export { wsEndpoint } from './ws-endpoint.ts'
