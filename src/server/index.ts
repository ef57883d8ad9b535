/** Wakeful as a server: REST and what comes with it. */
export { type KeyGiven, KeyRegistry, type KeyView } from './keys/key-registry.ts'
export { isPortTaken } from './listener.ts'
export { Log, type LogLevel, type LogOptions } from './logs/index.ts'
export { Metrics } from './metrics/index.ts'
export { openApi } from './openapi.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
export { PauseControl } from './tenants/pause-control.ts'
