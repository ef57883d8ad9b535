import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Terminal } from './terminal.ts'

/** The text an argument stands for: itself, a file's (`@file`), or stdin's (`-`). */
export async function readSource(argument: string, terminal: Terminal): Promise<string> {
  if (argument === '-') return await text(terminal.stdin)
  return argument.startsWith('@') ? await readFile(argument.slice(1), 'utf8') : argument
}
