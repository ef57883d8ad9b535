const FLAGS = 'unix|delay|cron|every|start|end|count|misfire|timezone'

/** The library's refusals in the words of the command line: `{ cron: X }` is `--cron X` here, `{ at }` is WHEN. */
export function inFlags(message: string): string {
  return message
    .replace(/\{ at(?:: [^{}]*)? \}/g, 'WHEN')
    .replace(
      new RegExp(`\\{ (${FLAGS})(?:: ('[^']*'|[^{}]*?))? \\}`, 'g'),
      (_, flag: string, value?: string) => (value === undefined ? `--${flag}` : `--${flag} ${value}`),
    )
    .replace(/^'(start|end|count)' belongs to cron and every:/, '--$1 belongs to --cron and --every:')
    .replace(/^(count|misfire|unix) (?=['\d-])/, '--$1 ')
}
