export { parseBound, parseTime } from './moment.ts'
export type { ResolvedPhrase } from './phrase.ts'
export { parseRecurring } from './recurring/recurring-phrase.ts'
