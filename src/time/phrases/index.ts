export { isHelpful, parseBound, parseTime } from './moment.ts'
export type { ResolvedPhrase } from './phrase.ts'
export { assertPhraseSettings, DEFAULT_TIMES, type PhraseSettings } from './phrase-settings.ts'
export { parseRecurring } from './recurring/recurring-phrase.ts'
