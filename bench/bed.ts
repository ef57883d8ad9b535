import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, type Wakeful } from '../src/index.ts'

/** A payload of about a hundred bytes, as the peers were measured with. */
export const PAYLOAD = { tenant: 't1', kind: 'reminder', note: 'x'.repeat(60) }

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A fresh folder for one measurement, removed afterwards, also by Ctrl-C: it may hold a gigabyte. */
export async function inFolder<T>(work: (path: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'wakeful-bench-'))
  const remove = () => rmSync(dir, { recursive: true, force: true })
  const stop = (signal: NodeJS.Signals) => {
    remove()
    // The prompt must not follow the line of progress.
    if (process.stderr.isTTY) process.stderr.write('\n')
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await work(join(dir, 'bench.db'))
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    remove()
  }
}

/** Opens Wakeful as a user would who tunes nothing. */
export async function withWakeful<T>(where: string, work: (wakeful: Wakeful) => Promise<T>): Promise<T> {
  const wakeful = await open(where.startsWith('postgres:') ? where : `sqlite:${where}`)
  try {
    return await work(wakeful)
  } finally {
    await wakeful.close()
  }
}

/** Fills the file with alarms of another handler that are due in years. */
export async function prefill(
  path: string,
  count: number,
  onProgress: (done: number) => void,
): Promise<void> {
  await withWakeful(path, async (wakeful) => {
    const far = Date.now() + 10 * 365 * 86_400_000
    for (let done = 0; done < count; done += 1000) {
      const items = Array.from({ length: 1000 }, (_, i) => ({
        when: new Date(far + done + i),
        target: 'later',
        payload: PAYLOAD,
      }))
      await wakeful.setMany(items)
      onProgress(done + 1000)
    }
  })
}

/** How many a second. */
export function perSecond(count: number, startedAt: number): number {
  return count / ((performance.now() - startedAt) / 1000)
}

/** How many a second, and the processor time each took, in microseconds: a busy machine blurs only the first. */
export interface Pace {
  readonly perSecond: number
  readonly cpuUs: number
}

/** Starts a stopwatch; answers how fast so many were done since. */
export function pace(): (count: number) => Pace {
  const [startedAt, before] = [performance.now(), process.cpuUsage()]
  return (count) => {
    const { user, system } = process.cpuUsage(before)
    return { perSecond: perSecond(count, startedAt), cpuUs: (user + system) / count }
  }
}

/** The middle of several measurements. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** The value below which this share of the sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
