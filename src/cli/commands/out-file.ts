import { existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { badUsage, withFile } from '../terminal/failure.ts'

const SQLITE_HEAD = 'SQLite format 3'

/** Written beside its place and moved there whole, so that an interrupted export never looks like a finished one. */
export async function writeWhole(chunks: AsyncIterable<string>, file: string): Promise<void> {
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
export async function refuseUnfit(file: string): Promise<void> {
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
