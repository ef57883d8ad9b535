/** REST: a route for each operation of the contracts. */
export { type AppParts, buildApp, refuse, refuseMethod, requestIdOf } from './app.ts'
