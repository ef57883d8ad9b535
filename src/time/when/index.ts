export type { DstInput, MisfireInput } from './options.ts'
export { type Preview, type PreviewedInstant, preview, shortestPeriod } from './preview.ts'
export { resolveReschedule, ruleOptions } from './reschedule.ts'
export { resolveSince } from './since.ts'
export {
  type Moment,
  type Parsed,
  parse,
  type Resolved,
  resolveWhen,
  type When,
  type WhenContext,
  type WhenObject,
} from './when.ts'
