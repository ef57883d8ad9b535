export { describeRrule } from './description.ts'
export { type RruleDate, readRruleDate } from './parts.ts'
export { compileRrule } from './rrule.ts'
export { parseRrule, RRULE_LENGTH_MAX } from './text.ts'
