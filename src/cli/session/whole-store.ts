import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import { commandName } from '../arguments/command.ts'
import { fileOf, type Globals, storeUrl } from '../arguments/globals.ts'
import { Output } from '../terminal/output.ts'
import type { Shell } from '../terminal/shell.ts'

/** A store as a whole, for the commands that work on all of it. */
export interface WholeStore {
  readonly url: string
  readonly out: Output
}

/** The store that was asked for; `existing` refuses to make one where there is none. */
export function wholeStore(shell: Shell, command: Command, need: 'any' | 'existing'): WholeStore {
  const globals: Globals = command.optsWithGlobals()
  const url = storeUrl(globals, shell.terminal.env, commandName(command))
  const file = fileOf(url)
  if (need === 'existing' && file !== null && !existsSync(file)) {
    throw new WakefulError('store.file_missing', { file })
  }
  return { url, out: new Output(shell.terminal, globals.json === true) }
}
