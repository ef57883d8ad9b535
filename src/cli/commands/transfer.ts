import { createReadStream, existsSync } from 'node:fs'
import { access, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { exportLines, importLines } from '../../hosts/node/index.ts'
import { addCommand, isInMemory } from '../arguments/index.ts'
import { wholeStore } from '../session/index.ts'
import { asWorkFailure, badUsage, progress, type Shell, type Sink, withFile } from '../terminal/index.ts'
import { count, counted } from '../text/index.ts'

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
      out.print({
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
    if (isInMemory(url)) out.note(`note: ${url} ends with this command: nothing is kept`)
    const fromFile = file !== undefined && file !== '-'
    if (fromFile) await withFile(file, () => access(file))
    else if (shell.terminal.stdin.isTTY === true) out.note('reading from stdin')
    const input = fromFile ? createReadStream(file) : shell.terminal.stdin
    const bar = progress(shell.terminal, 'import')
    const rows = new Rows()
    const lines = rows.counted(linesOf(input))
    const read = () => importLines(url, lines, (done, total) => bar.at(done, total))
    const { imported, known } = await asWorkFailure(() => (fromFile ? withFile(file, read) : read())).finally(
      () => bar.end(),
    )
    out.print({
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

const KINDS = ['alarm', 'event', 'calendar', 'document', 'wake'] as const

/** What the lines of an export stand for; its first and its last line stand for nothing. */
export class Rows {
  lines = 0
  readonly #counts = new Map<string, number>()

  /** The same lines, counted by the name each begins with. */
  async *counted(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) {
      this.lines += 1
      const kind = /^\s*\{\s*"(\w+)"/.exec(line)?.[1] ?? ''
      this.#counts.set(kind, this.#of(kind) + 1)
      yield line
    }
  }

  /** Such as `2 alarms, 5 events`; of the rest only what there is. */
  words(): string {
    const [alarms, ...others] = KINDS
    const there = [alarms, ...others.filter((kind) => this.#of(kind) > 0)]
    return there.map((kind) => counted(this.#of(kind), kind)).join(', ')
  }

  /** What became of rows that the store could not read, where there are any. */
  damagedWords(what: string): string {
    const damaged = this.#of('damaged')
    return damaged === 0 ? '' : `; ${counted(damaged, 'damaged row')} ${what}`
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(KINDS.map((kind) => [`${kind}s`, this.#of(kind)]))
  }

  #of(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }
}

const SQLITE_HEAD = 'SQLite format 3'

/** Written beside its place and moved there whole, so that an interrupted export never looks like a finished one. */
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

/** Refuses what lines cannot be written to, and a database above all: most likely it is the one to be exported. */
async function refuseUnfit(file: string): Promise<void> {
  for (const name of [file, `${file}.unfinished`]) {
    const found = await stat(name).catch(() => null)
    if (found?.isDirectory() === true) throw badUsage(`${name} is a directory: name a file in it`)
    if (found?.isFile() !== true) continue
    const head = await withFile(name, () => headOf(name))
    if (head === SQLITE_HEAD || /-(?:wal|shm)$/.test(name))
      throw badUsage(`${name} is a database: name another file`)
  }
  const folder = dirname(file)
  if (!existsSync(folder)) throw badUsage(`there is no folder ${folder} to write ${basename(file)} to`)
}

async function headOf(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(SQLITE_HEAD.length),
      0,
      SQLITE_HEAD.length,
      0,
    )
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
