import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { open } from '../../src/index.ts'
import { cpuMs } from '../cpu-time.ts'
import { RARE_TARGET } from './fill.ts'
import type { Probe } from './probe.ts'

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url))
const ROUNDS = 7

/** Runs a separate process on the store. */
export async function probe(path: string): Promise<Probe> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', PROBE, path])
  return JSON.parse(stdout) as Probe
}

/** The median of the processor time of `stats` and of each filter of history, in milliseconds. */
export async function timeReads(path: string): Promise<Record<string, number>> {
  const wakeful = await open(path)
  const ago = (ms: number) => new Date(Date.now() - ms)
  const reads: Record<string, () => Promise<unknown>> = {
    stats: () => wakeful.stats(),
    'history()': () => wakeful.history(),
    'history(limit 500)': () => wakeful.history({ limit: 500 }),
    ...Object.fromEntries(
      (['pending', 'fired', 'completed', 'failed', 'cancelled', 'timed_out'] as const).map((status) => [
        `history(status ${status})`,
        () => wakeful.history({ status }),
      ]),
    ),
    'history(target)': () => wakeful.history({ target: 'work2' }),
    'history(rare target)': () => wakeful.history({ target: RARE_TARGET }),
    'history(unknown target)': () => wakeful.history({ target: 'nobody' }),
    'history(process)': () => wakeful.history({ process: 'work4' }),
    'history(since 1 h)': () => wakeful.history({ since: ago(3_600_000), limit: 500 }),
    'history(since 29 d)': () => wakeful.history({ since: ago(29 * 86_400_000), limit: 500 }),
    'history(since 1 h, failed)': () => wakeful.history({ since: ago(3_600_000), status: 'failed' }),
    'history(all filters)': () =>
      wakeful.history({ since: ago(29 * 86_400_000), status: 'timed_out', target: 'work3', limit: 500 }),
    'failed()': () => wakeful.failed(),
  }
  const medians: Record<string, number> = {}
  for (const [name, read] of Object.entries(reads)) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const from = cpuMs()
      await read()
      times.push(cpuMs() - from)
    }
    medians[name] = times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
  }
  await wakeful.close()
  return medians
}
