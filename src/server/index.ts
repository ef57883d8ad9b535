/** Wakeful as a server: REST and what comes with it. */

import '../errors/node-version.ts'

export { type KeyInput, KeyRegistry, type KeyView } from './auth/index.ts'
export { openApi } from './docs/index.ts'
export { isPortInUse } from './listener.ts'
export { Log, type LogLevel, type LogOptions, Metrics } from './observability/index.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
export { PauseControl } from './tenants/index.ts'
