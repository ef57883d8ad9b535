export { resolveReschedule, ruleOptions } from './kept-options.ts'
export type { DstInput, MisfireInput } from './options.ts'
export { type Parsed, parse } from './parse.ts'
export { resolveSince } from './since.ts'
export {
  type Moment,
  type Resolved,
  resolveWhen,
  type When,
  type WhenContext,
  type WhenObject,
} from './when.ts'
