/** Prints docs/reference/cli.md from the command line's own help: `node tools/cli-doc.ts > docs/reference/cli.md`. */
import { Readable } from 'node:stream'
import type { Command, Option } from 'commander'
import { buildProgram } from '../src/cli/commands/program.ts'
import type { CliContext } from '../src/cli/terminal/terminal.ts'

const HEAD = `<!-- Written by tools/cli-doc.ts from the help of src/cli: change that, then run \`npm run docs\`. -->

# The command line

In a clone, run \`npm run wakeful -- COMMAND\`; with the package installed, run \`wakeful COMMAND\`. \`--help\` prints what this page says about a
command. Commands work on the store directly, even while other processes have it open, or through a server.

- **The store** is \`--db\`, else \`WAKEFUL_DB\`, else \`sqlite:./wakeful.db\`. A bare path is a SQLite file.
- **A server** is \`--url\`, else \`WAKEFUL_URL\` if there is no \`--db\`: \`wakeful list --url http://127.0.0.1:7420\` prints the same as on the
  store. The API key is in \`WAKEFUL_KEY\`, never an argument, because other users can see arguments in the list of processes. If the key allows several tenants or owners, \`--tenant\` and
  \`--owner\` select one. Some commands work only on the store itself: \`serve\`, \`keys\`, \`export\`, \`import\`, \`backup\`,
  \`migrate\`, \`doctor\`, \`bench\`.
- **A time** is given as words (\`in 10 minutes\`, quoted or not) or by one option (\`--cron\`, \`--every\`, \`--rrule\`, \`--unix\`, \`--delay\`).
  [Ways to say when](when.md) lists the accepted words; the variables \`WAKEFUL_PHRASE_CLOCK\` and \`WAKEFUL_PHRASE_TIMES\`
  [say how](when.md#settings-of-phrases) \`tomorrow at 9\` and \`tomorrow morning\` are read on a store. An RRULE of several lines is one argument: in bash and zsh
  \`--rrule $'DTSTART;TZID=Europe/Rome:20270104T090000\\nRRULE:FREQ=WEEKLY'\`.
- **An alarm** is named by its id, by the beginning of its id (at least 8 characters, if no other id begins with them), or by \`--key\`.
- **An alarm without a target**: \`wakeful serve\` prints its message when it fires. It goes to the handler \`print\` of the pool \`cli\`.
- **Output** is human-readable; with \`--json\` every command prints JSON, in snake_case, with the payload byte for byte.
- **Exit codes**: 0 done, 1 failed, 2 bad usage. Errors go to stderr, with \`--json\` as JSON.
- \`serve\` fires alarms until SIGINT or SIGTERM, then waits for running deliveries, for at most 30 s. It reads times without a zone in UTC, unless \`--timezone\` names
  another.
`

/** The page, from the commands themselves. */
export function cliDoc(): string {
  const printed: string[] = []
  const program = buildProgram(standIn((text) => printed.push(text)))
  const helpOf = (command: Command) => {
    printed.length = 0
    command.outputHelp()
    return printed.join('')
  }
  const commands = program.commands.filter((command) => command.name() !== 'help')
  const groups = Map.groupBy(commands, (command) => command.helpGroup().replace(/:$/, ''))
  const sections = [...groups].map(([title, members]) => {
    const all = members.flatMap((command) => [command, ...within(command)])
    return `## ${title}\n\n${all.map((command) => section(command, helpOf(command))).join('\n')}`
  })
  return `${HEAD}
## Options of every command

${optionTable(program.options)}
${sections.join('\n')}`
}

/** The commands of a command: `calendar put`. */
function within(command: Command): Command[] {
  return command.commands.filter((inner) => inner.name() !== 'help')
}

function nameOf(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${nameOf(parent)} ${command.name()}`
}

function section(command: Command, help: string): string {
  const summary = command.description()
  const examples = /Examples:\n([\s\S]*)$/.exec(help)?.[1] ?? ''
  const lines = examples.split('\n').flatMap((line) => /^ {2}\$ (.*)$/.exec(line)?.[1] ?? [])
  const exampleBlock = lines.length === 0 ? '' : `\n\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`
  const options = command.options.filter((option) => !option.hidden)
  const table = options.length === 0 ? '' : `\n${optionTable(options)}`
  return `### \`${nameOf(command)} ${argumentsOf(command)}\`\n\n${sentence(summary)}\n${table}${exampleBlock}`.replace(
    ' `\n',
    '`\n',
  )
}

function argumentsOf(command: Command): string {
  return command.registeredArguments
    .map((argument) => {
      const name = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`
      return argument.required ? name : `[${name}]`
    })
    .join(' ')
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => {
    const choices = option.argChoices === undefined ? '' : ` (${option.argChoices.join(', ')})`
    return `| \`${option.flags.replaceAll('|', '\\|')}\` | ${(option.description + choices).replaceAll('|', '\\|')} |`
  })
  return `| option | |\n|---|---|\n${rows.join('\n')}\n`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** As much of a shell as help needs: nothing is opened and nothing is asked. */
function standIn(write: (text: string) => unknown): CliContext {
  const sink = { write, columns: 100 }
  const unreachable = () => {
    throw new Error('help runs no command')
  }
  return {
    terminal: {
      stdout: sink,
      stderr: sink,
      stdin: Readable.from([]),
      env: {},
      pid: 0,
      now: unreachable,
      monotonic: unreachable,
      onSignal: () => () => {},
      exit: unreachable,
    },
    version: '0.0.0',
    invocation: 'wakeful',
    exitCode: 0,
  } as Partial<CliContext> as CliContext
}

if (import.meta.main) process.stdout.write(cliDoc())
