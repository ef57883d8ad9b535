import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, type Wakeful } from '../src/index.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs work in a new folder and removes the folder afterwards, also on Ctrl-C: it may hold a gigabyte. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const stop = (signal: NodeJS.Signals) => {
    remove()
    // The prompt must not follow the line of progress.
    if (process.stderr.isTTY) process.stderr.write('\n')
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await work(folder)
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    remove()
  }
}

/** Opens Wakeful with its defaults, on a SQLite file or a PostgreSQL URL. */
export async function withWakeful<T>(where: string, work: (wakeful: Wakeful) => Promise<T>): Promise<T> {
  const wakeful = await open(where.startsWith('postgres:') ? where : `sqlite:${where}`)
  try {
    return await work(wakeful)
  } finally {
    await wakeful.close()
  }
}
