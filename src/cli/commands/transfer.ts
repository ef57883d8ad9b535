import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Command } from 'commander'
import { exportLines, importLines } from '../../hosts/node/index.ts'
import { addCommand } from '../arguments/command.ts'
import { isInMemory } from '../arguments/globals.ts'
import { wholeStore } from '../session/whole-store.ts'
import { asWork, withFile } from '../terminal/failure.ts'
import { count, progress } from '../terminal/progress.ts'
import type { Shell } from '../terminal/shell.ts'
import type { Sink } from '../terminal/terminal.ts'
import { Rows } from './export-rows.ts'
import { refuseUnfit, writeWhole } from './out-file.ts'

const CHUNK_CHARS = 64 * 1024

/** `export`: every alarm and event as lines of JSON. */
export function addExport(program: Command, shell: Shell): void {
  addCommand(program, 'export', 'write all alarms and events as lines of JSON', [
    'export --out alarms.jsonl',
    'export | gzip > alarms.jsonl.gz',
  ])
    .option('-o, --out <file>', 'write to this file (default: stdout)')
    .action(async (flags: { out?: string }, self: Command) => {
      const { url, out } = wholeStore(shell, self, 'existing')
      if (flags.out !== undefined) await refuseUnfit(flags.out)
      const bar = progress(shell.terminal, 'export')
      const lines = exportLines(url, (done, total) => bar.at(done, total))
      const rows = new Rows()
      try {
        const chunks = chunked(rows.counted(lines))
        if (flags.out === undefined) await toSink(chunks, shell.terminal.stdout)
        else await writeWhole(chunks, flags.out)
      } finally {
        bar.end()
      }
      if (flags.out === undefined) return
      out.answer({
        json: () => JSON.stringify({ file: flags.out, lines: rows.lines, rows }),
        human: () => [`${rows.words()} exported to ${flags.out}${rows.damagedWords('could not be read')}`],
      })
    })
}

/** `import [FILE]`: what an export wrote. */
export function addImport(program: Command, shell: Shell): void {
  addCommand(program, 'import [file]', 'read what export wrote', [
    'import alarms.jsonl',
    'gunzip -c alarms.jsonl.gz | wakeful import',
  ]).action(async (file: string | undefined, _flags: unknown, self: Command) => {
    const { url, out } = wholeStore(shell, self, 'any')
    if (isInMemory(url)) out.aside(`note: ${url} ends with this command: nothing is kept`)
    const fromFile = file !== undefined && file !== '-'
    if (fromFile) await withFile(file, () => access(file))
    else if (shell.terminal.stdin.isTTY === true) out.aside('reading from stdin')
    const input = fromFile ? createReadStream(file) : shell.terminal.stdin
    const bar = progress(shell.terminal, 'import')
    const rows = new Rows()
    const lines = rows.counted(linesOf(input))
    const read = () => importLines(url, lines, (done, total) => bar.at(done, total))
    const { imported, known } = await asWork(() => (fromFile ? withFile(file, read) : read())).finally(() =>
      bar.end(),
    )
    out.answer({
      json: () => JSON.stringify({ imported, known, rows }),
      human: () => {
        const done =
          known === 0 ? 'imported' : `read: ${count(imported)} imported, ${count(known)} were there already`
        return [`${rows.words()} ${done}${rows.damagedWords('passed over')}`]
      },
    })
  })
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  // A stream's own failure ends readline's iterator as if the file had ended there: it is thrown by hand.
  let broken: Error | null = null
  input.on('error', (error) => {
    broken = error
  })
  yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  if (broken !== null) throw broken
}

/** Lines joined into larger pieces: one write per line would be most of the work. */
async function* chunked(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const line of lines) {
    chunk += `${line}\n`
    if (chunk.length < CHUNK_CHARS) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

async function toSink(chunks: AsyncIterable<string>, sink: Sink): Promise<void> {
  for await (const chunk of chunks) await new Promise<void>((resolve) => sink.write(chunk, () => resolve()))
}
