export { type RruleDate, readRruleDate } from './date-text.ts'
export { describeRrule } from './description.ts'
export { compileRrule } from './rrule.ts'
export { parseRrule, RRULE_LENGTH_MAX } from './text.ts'
