/** Wakeful as a server: REST and what comes with it. */
export { ALL_TENANTS, KeyBook, type KeyGiven, type KeyView } from './keys/key-book.ts'
export { isPortTaken } from './listener.ts'
export { openApi } from './openapi.ts'
export { type Server, type ServerOptions, startServer } from './server.ts'
