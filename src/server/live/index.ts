/** Long-lived connections: WebSockets and server-sent events. */
export { Live, type LiveOptions } from './live.ts'
