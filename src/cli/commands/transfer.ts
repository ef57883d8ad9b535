import { createReadStream, existsSync } from 'node:fs'
import { access, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import { exportLines, importLines, type LineCounts, noLines } from '../../hosts/node/index.ts'
import { addCommand, isInMemory } from '../arguments/index.ts'
import { secretInEnvironment, storeUrlAndOutput } from '../session/index.ts'
import { asWorkFailure, type CliContext, type Sink, withFile, withProgress } from '../terminal/index.ts'
import { count, counted } from '../text/index.ts'

const CHUNK_CHARS = 64 * 1024

/** `export`: writes every alarm and event as a line of JSON. */
export function addExport(program: Command, cli: CliContext): void {
  addCommand(program, 'export', 'write all alarms and events as lines of JSON', [
    'export --out alarms.jsonl',
    'export | gzip > alarms.jsonl.gz',
  ])
    .option('-o, --out <file>', 'write to this file (default: stdout)')
    .action(async (flags: { out?: string }, self: Command) => {
      const { url, out } = storeUrlAndOutput(cli, self, 'existing')
      if (flags.out !== undefined) await assertWritable(flags.out)
      const counts = noLines()
      await withProgress(cli.terminal, 'export', (onProgress) => {
        const chunks = chunked(exportLines(url, counts, onProgress))
        return flags.out === undefined ? toSink(chunks, cli.terminal.stdout) : writeWhole(chunks, flags.out)
      })
      if (flags.out === undefined) return
      const lines = Object.values(counts).reduce((sum, each) => sum + each, 0)
      out.print(JSON.stringify({ file: flags.out, lines, rows: rowsOf(counts) }), () => [
        `${countsText(counts)} exported to ${flags.out}${damagedText(counts, 'could not be read')}`,
      ])
    })
}

/** `import [FILE]`: reads the lines of an export. */
export function addImport(program: Command, cli: CliContext): void {
  addCommand(program, 'import [file]', 'import the lines of an export', [
    'import alarms.jsonl',
    'gunzip -c alarms.jsonl.gz | wakeful import',
  ])
    .option(
      '--accept-other-secret',
      'import although this store has another secret: encrypted headers must be set again',
    )
    .action(async (file: string | undefined, flags: { acceptOtherSecret?: boolean }, self: Command) => {
      const { url, out } = storeUrlAndOutput(cli, self, 'any')
      if (isInMemory(url)) out.note(`note: ${url} exists only during this command, so nothing is kept`)
      const fromFile = file !== undefined && file !== '-'
      if (fromFile) await withFile(file, () => access(file))
      else if (cli.terminal.stdin.isTTY === true) out.note('reading from stdin')
      const input = fromFile ? createReadStream(file) : cli.terminal.stdin
      const counts = noLines()
      const options = { ...flags, secret: secretInEnvironment(cli.terminal) }
      const { imported, known } = await withProgress(cli.terminal, 'import', (onProgress) => {
        const read = () => importLines(url, linesOf(input), counts, onProgress, options)
        return asWorkFailure(fromFile ? withFile(file, read) : read())
      })
      out.print(JSON.stringify({ imported, known, rows: rowsOf(counts) }), () => {
        const done =
          known === 0 ? 'imported' : `read: ${count(imported)} imported, ${count(known)} existed already`
        return [`${countsText(counts)} ${done}${damagedText(counts, 'skipped')}`]
      })
    })
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  // readline ends at an error of its stream as if the file ended there, so the error is thrown here.
  let broken: Error | null = null
  input.on('error', (error) => {
    broken = error
  })
  yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  if (broken !== null) throw broken
}

/** Lines joined into larger chunks, because one write per line would take most of the time. */
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

const KINDS = ['alarm', 'event', 'calendar', 'document', 'wake'] as const

/** Such as `2 alarms, 5 events`; kinds other than alarms only if there are any. */
export function countsText(counts: LineCounts): string {
  const present = KINDS.filter((kind) => kind === 'alarm' || counts[kind] > 0)
  return present.map((kind) => counted(counts[kind], kind)).join(', ')
}

/** The number of rows that the store could not read, if any. */
export function damagedText({ damaged }: LineCounts, what: string): string {
  return damaged === 0 ? '' : `; ${counted(damaged, 'damaged row')} ${what}`
}

function rowsOf(counts: LineCounts): Record<string, number> {
  return Object.fromEntries(KINDS.map((kind) => [`${kind}s`, counts[kind]]))
}

const SQLITE_HEAD = 'SQLite format 3'

/** Writes to a temporary file and renames it, so that an interrupted export never looks complete. */
async function writeWhole(chunks: AsyncIterable<string>, file: string): Promise<void> {
  const unfinished = `${file}.unfinished`
  const stream = await withFile(file, async () =>
    (await open(unfinished, 'w')).createWriteStream({ flush: true }),
  )
  try {
    await pipeline(Readable.from(chunks), stream)
    await withFile(file, () => rename(unfinished, file))
  } catch (thrown) {
    await rm(unfinished, { force: true })
    throw thrown
  }
}

/** Rejects a file that cannot be written, and a database, which is probably the one to export. */
async function assertWritable(file: string): Promise<void> {
  for (const name of [file, `${file}.unfinished`]) {
    const found = await stat(name).catch(() => null)
    if (found?.isDirectory() === true) throw new WakefulError('file.is_directory', { file: name })
    if (found?.isFile() !== true) continue
    const head = await withFile(name, () => text(createReadStream(name, { end: SQLITE_HEAD.length - 1 })))
    if (head === SQLITE_HEAD || /-(?:wal|shm)$/.test(name))
      throw new WakefulError('file.is_database', { file: name })
  }
  const folder = dirname(file)
  if (!existsSync(folder)) throw new WakefulError('file.no_folder', { folder, file: basename(file) })
}
