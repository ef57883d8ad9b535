import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { withFile } from '../terminal/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The text an argument stands for: itself, a file's (`@file`), or stdin's (`-`). */
export async function readSource(argument: string, terminal: Terminal): Promise<string> {
  if (argument === '-') return await text(terminal.stdin)
  if (!argument.startsWith('@')) return argument
  const file = argument.slice(1)
  return await withFile(file, () => readFile(file, 'utf8'))
}
