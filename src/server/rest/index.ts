/** REST: a route for each operation of the contracts. */
export { type AppParts, buildApp, refuse, refuseMethod } from './app.ts'
