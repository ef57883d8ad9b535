import { Command } from 'commander'
import { addGlobals, globalsOf } from '../arguments/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { addEdits } from './actions.ts'
import { addBench } from './bench.ts'
import { addCalendars } from './calendar.ts'
import { addCancel, addReset } from './cancel.ts'
import { addEvents } from './events.ts'
import { addKeys } from './keys.ts'
import { addHistory, addList, addStats } from './list.ts'
import { addBackup, addDoctor, addMigrate } from './maintenance.ts'
import { addMcp } from './mcp.ts'
import { addParse, addPreview } from './preview.ts'
import { addServe } from './serve.ts'
import { addSet } from './set.ts'
import { addGet, addWhy } from './show.ts'
import { addExport, addImport } from './transfer.ts'

const GROUPS = {
  'Alarms:': [addServe, addMcp, addSet, addList, addGet, addCancel, addEdits, addReset, addCalendars],
  'History and preview:': [addHistory, addStats, addWhy, addEvents, addPreview, addParse],
  'The store:': [addExport, addImport, addBackup, addMigrate, addDoctor, addBench, addKeys],
}

/** The whole command line. It throws errors; commander would exit the process. */
export function buildProgram(cli: CliContext): Command {
  const { stdout, stderr } = cli.terminal
  const program = new Command('wakeful')
    .description('Durable alarms that fire even if every process crashed in between.')
    .version(cli.version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalsOf })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // `run` prints errors, because it knows whether they must be JSON.
      outputError: () => {},
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stderr.columns ?? 80,
    })
    .addHelpText(
      'after',
      `
Examples:
  $ wakeful serve
  $ wakeful set 'in 10 seconds' --message hello
  $ wakeful list --order due
  $ wakeful why 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d

Exit codes: 0 done, 1 failed, 2 bad usage.`,
    )
  addGlobals(program)
  for (const [title, adders] of Object.entries(GROUPS)) {
    program.commandsGroup(title)
    for (const add of adders) add(program, cli)
  }
  return program
}
