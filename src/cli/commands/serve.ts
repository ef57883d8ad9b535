import type { Command } from 'commander'
import { addConfigFlags, printed, printedLines, readConfig } from '../../config/index.ts'
import { addCommand, type Globals, storeUrl } from '../arguments/index.ts'
import { Output, type Shell } from '../terminal/index.ts'

/** `serve`: runs the clock and the HTTP API, and prints what fires without a target. */
export function addServe(program: Command, shell: Shell): void {
  const command = addCommand(
    program,
    'serve',
    'run the clock and the HTTP API, and print what fires without a target',
    ['serve', 'serve --db /var/lib/wakeful/alarms.db --port 8080 --json', 'serve --print-config'],
  )
  addConfigFlags(command).action(async (flags: { printConfig?: boolean }, self: Command) => {
    const globals: Globals = self.optsWithGlobals()
    // Refuses a server: there is none to run a server through.
    storeUrl(globals, shell.terminal.env, 'serve')
    const configured = readConfig({ flags: { ...globals }, env: shell.terminal.env })
    const out = new Output(shell.terminal, globals.json === true)
    if (flags.printConfig === true) {
      out.print({ json: () => JSON.stringify(printed(configured)), human: () => printedLines(configured) })
      return
    }
    // What a server is made of takes a while to load: no other command has to wait for it.
    const { serve } = await import('../serve/index.ts')
    await serve(shell, globals, configured, out)
  })
}
