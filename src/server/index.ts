/** Wakeful as a server: REST and what comes with it. */
export { type KeyGiven, KeyRegistry, type KeyView } from './auth/key-registry.ts'
export { openApi } from './docs/openapi.ts'
export { isPortTaken } from './listener.ts'
export { Log, type LogLevel, type LogOptions } from './observability/log.ts'
export { Metrics } from './observability/metrics.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
export { PauseControl } from './tenants/pause-control.ts'
