/** REST: a route for each operation of the contracts. */
export { type AppParts, buildApp } from './app.ts'
