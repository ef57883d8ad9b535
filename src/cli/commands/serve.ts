import type { Command } from 'commander'
import { addConfigFlags, printed, printedLines, readConfig } from '../../config/index.ts'
import { addCommand, type Globals, storeUrl } from '../arguments/index.ts'
import { type CliContext, Output } from '../terminal/index.ts'

/** `serve`: fires alarms, serves the HTTP API, and prints alarms without a target. */
export function addServe(program: Command, cli: CliContext): void {
  const command = addCommand(
    program,
    'serve',
    'fire alarms, serve the HTTP API, and print alarms without a target',
    ['serve', 'serve --db /var/lib/wakeful/alarms.db --port 8080 --json', 'serve --print-config'],
  )
  addConfigFlags(command).action(async (flags: { printConfig?: boolean }, self: Command) => {
    const globals: Globals = self.optsWithGlobals()
    // Throws if the arguments name a server.
    storeUrl(globals, cli.terminal.env, 'serve')
    const configured = readConfig({ flags: { ...globals }, env: cli.terminal.env })
    const out = new Output(cli.terminal, globals.json === true)
    if (flags.printConfig === true) {
      out.print(JSON.stringify(printed(configured)), () => printedLines(configured))
      return
    }
    // Loading the server takes most of a second, so other commands do not load it.
    const { serve } = await import('../serve/index.ts')
    await serve(cli, globals, configured, out)
  })
}
