/** Wakeful as a server: REST and what comes with it. */
export { openApi } from './openapi.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
