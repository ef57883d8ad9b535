/** Wakeful as a server: REST and what comes with it. */
export {
  addConfigFlags,
  type Config,
  openSettings,
  printed,
  printedLines,
  readConfig,
  type Source,
} from './config/index.ts'
export { ALL_TENANTS, KeyBook, type KeyGiven, type KeyView } from './keys/key-book.ts'
export { isPortTaken } from './listener.ts'
export { Log, type LogLevel, type LogOptions } from './logs/index.ts'
export { Metrics } from './metrics/index.ts'
export { openApi } from './openapi.ts'
export { withoutPasswords } from './redaction/index.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
export { Switchboard } from './tenants/switchboard.ts'
