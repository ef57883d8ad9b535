export { readMoment, readText } from './moment.ts'
export type { PlacedPhrase } from './phrase.ts'
export { parseRecurring } from './recurring/recurring-phrase.ts'
