/** What an alarm is, its states, what may happen to it, and how it is shown. Pure. */

export { RawJson, rawJson } from '../json/index.ts'
export * from './decisions/index.ts'
export * from './fields/index.ts'
export * from './model/index.ts'
export * from './views/index.ts'
