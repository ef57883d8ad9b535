import { CommanderError } from 'commander'
import { commandName } from './arguments/index.ts'
import { buildProgram } from './commands/index.ts'
import { type CliContext, failureOf, failureText, widthOf } from './terminal/index.ts'
import { wrap } from './text/index.ts'

/** Runs one command and returns the exit code: 0 done, 1 failed, 2 bad usage. */
export async function run(argv: readonly string[], cli: CliContext): Promise<0 | 1 | 2> {
  const { stderr } = cli.terminal
  const program = buildProgram(cli)
  if (argv.length === 0) {
    stderr.write(program.helpInformation())
    return 2
  }
  try {
    await program.parseAsync(normalized(argv), { from: 'user' })
    return cli.exitCode
  } catch (thrown) {
    // Help and version throw too.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
    // A group without a command has printed its help.
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') return 2
    const failure = failureOf(thrown)
    const json = wantsJson(argv)
    const text = failureText(failure, json)
    stderr.write(`${json ? text : wrap(text, widthOf(stderr), '  ')}\n`)
    if (thrown instanceof CommanderError && !json) stderr.write(`${helpHint(argv, cli)}\n`)
    return failure.exitCode
  }
}

/** Turns `help calendar put` into `calendar put --help`. */
function normalized(argv: readonly string[]): string[] {
  const [first, ...rest] = argv
  return first === 'help' && rest.length > 1 ? [...rest, '--help'] : [...argv]
}

/** Whether the output is JSON, even if the arguments cannot be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}

function helpHint(argv: readonly string[], cli: CliContext): string {
  let command = buildProgram(cli)
  for (const word of argv) command = command.commands.find((each) => each.name() === word) ?? command
  const name = command.parent === null ? '' : `${commandName(command)} `
  return `try: ${cli.invocation} ${name}--help`
}
