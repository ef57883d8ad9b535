const FLAGS = 'unix|delay|cron|every|rrule|start|end|count|jitter|misfire|dst|timezone'

/** What the library advises, as the command line says it. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /calendars\.put\('[^']*', …\) in the library, or where the store is with `wakeful (calendar put [^`]*)`/g,
    '`$1`',
  ],
  [/send a key: Authorization: Bearer wk_…/g, 'put a key (wk_…) into WAKEFUL_KEY'],
  [/^this key is not known/g, 'the key in WAKEFUL_KEY is not known'],
  [/or put the calendar without dates/g, 'or empty it with `calendar put NAME --empty`'],
  [/exclude: \[\] drops them/g, '--exclude none drops them'],
  [/say exclude: \{ …, move: 'next' \} or 'previous'/g, 'say --move next or --move previous'],
  [/say move: 'next' or 'previous'/g, 'say --move next or --move previous'],
  [/leave out move to/g, 'leave out --move to'],
  [/name a calendar in exclude/g, 'name a calendar with --exclude'],
  [/give the zone as timezone, beside the text/g, 'give the zone with --timezone'],
  [/and timezone says/g, 'and --timezone says'],
  [/says its (start|end|count), and so does '\1'/g, 'says its $1, and so does --$1'],
  [/, and so does exclude, otherwise/g, ', and so does --move, otherwise'],
  [/leave dst out/g, 'leave --dst-gap and --dst-overlap out'],
  [/^exclude (?=')/g, '--exclude '],
  [/^exclude: /g, '--exclude: '],
  [
    /; it is names of calendars and weekdays, 'weekends', or \{[^}]*\}/g,
    '; it is names of calendars, weekdays and weekends',
  ],
]

/** The library's refusals in the words of the command line: `{ cron: X }` is `--cron X` here, `{ at }` is WHEN. */
export function inFlags(message: string): string {
  const advised = ADVICE.reduce((text, [library, flags]) => text.replace(library, flags), message)
  return advised
    .replace(/\{ at(?:: [^{}]*)? \}/g, 'WHEN')
    .replace(
      new RegExp(`\\{ (${FLAGS})(?:: ('[^']*'|[^{}]*?))? \\}`, 'g'),
      (_, flag: string, value?: string) => (value === undefined ? `--${flag}` : `--${flag} ${value}`),
    )
    .replace(/^'(start|end|count|jitter|misfire|dst)' belongs to/, '--$1 belongs to')
    .replace(/^(count|misfire|unix|jitter) (?=['\d-])/, '--$1 ')
}
