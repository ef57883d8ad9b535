/** Wakeful as a server: REST and what comes with it. */
export { KeyBook, type KeyGiven, type KeyView } from './keys/key-book.ts'
export { isPortTaken } from './listener.ts'
export { Log, type LogLevel, type LogOptions } from './logs/index.ts'
export { Metrics } from './metrics/index.ts'
export { openApi } from './openapi.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
export { Switchboard } from './tenants/switchboard.ts'
