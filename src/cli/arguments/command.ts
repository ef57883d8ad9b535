import { type Command, InvalidArgumentError, Option } from 'commander'

/** Adds a command with its summary and examples that users can copy. */
export function addCommand(
  program: Command,
  spec: string,
  summary: string,
  examples: readonly string[],
): Command {
  const lines = examples.map(
    (example) => `  $ ${/(?:^|\| )wakeful /.test(example) ? '' : 'wakeful '}${example}`,
  )
  return program
    .command(spec)
    .description(summary)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}

/** The name of a command with its group: `calendar put`. */
export function commandName(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null
    ? command.name()
    : `${commandName(parent)} ${command.name()}`
}

/** Parses an option that must be a whole number from `min` to `max`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^-?\d+$/.test(text) && Number.isSafeInteger(value) && value >= min && value <= max) return value
    const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
    throw new InvalidArgumentError(`It must be a whole number ${bounds}.`)
  }
}

/** An option that takes one of a few words. */
export function choice(flags: string, summary: string, words: readonly string[]): Option {
  return new Option(flags, summary).choices(words)
}

/** The text of an argument that may have quotes or not: `set in 10 minutes`. */
export function joined(words: readonly string[]): string {
  return words.join(' ').trim()
}

/** An argument of a command that users copy, quoted for a shell if needed. */
export function shellArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
