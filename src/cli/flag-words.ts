const FLAGS = 'unix|delay|cron|every|rrule|start|end|count|jitter|misfire|dst|timezone'

/** The library's refusals in the words of the command line: `{ cron: X }` is `--cron X` here, `{ at }` is WHEN. */
export function inFlags(message: string): string {
  return message
    .replace(/\{ at(?:: [^{}]*)? \}/g, 'WHEN')
    .replace(
      new RegExp(`\\{ (${FLAGS})(?:: ('[^']*'|[^{}]*?))? \\}`, 'g'),
      (_, flag: string, value?: string) => (value === undefined ? `--${flag}` : `--${flag} ${value}`),
    )
    .replace(/^'(start|end|count|jitter|misfire|dst)' belongs to/, '--$1 belongs to')
    .replace(/^(count|misfire|unix) (?=['\d-])/, '--$1 ')
}
