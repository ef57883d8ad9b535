/** The names of a when. The client checks them as the library does, because over the network they stand beside other names. */

/** The fields of a when that say when. */
export const KINDS = ['at', 'unix', 'delay', 'cron', 'every', 'rrule'] as const

/** Options that only recurring rules have. */
export const RECURRING_OPTIONS = ['start', 'end', 'count', 'jitter', 'dst'] as const

/** The options of a when, besides its zone. */
export const WHEN_OPTIONS: readonly string[] = [...RECURRING_OPTIONS, 'misfire', 'exclude']

/** Every name that a when may have. */
export const WHEN_NAMES: readonly string[] = [...KINDS, 'timezone', ...WHEN_OPTIONS]
