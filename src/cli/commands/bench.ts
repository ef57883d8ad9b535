import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Wakeful } from '../../index.ts'
import { addCommand, type Globals, wholeNumber } from '../arguments/index.ts'
import {
  badUsage,
  type CliContext,
  Output,
  type Progress,
  progress,
  type Terminal,
  withFile,
} from '../terminal/index.ts'
import { count } from '../text/index.ts'

/** `bench`: measures how fast this machine sets and fires alarms, on a temporary store. */
export function addBench(program: Command, shell: CliContext): void {
  addCommand(program, 'bench', 'measure how fast this machine sets and fires alarms', [
    'bench',
    'bench --dir /var/lib/wakeful --seconds 5',
  ])
    .option('--dir <dir>', 'the folder of the temporary store (default: the system’s)')
    .option('--seconds <n>', 'duration of each measurement (default 2)', wholeNumber(1, 600))
    .action(async (flags: { dir?: string; seconds?: number }, self: Command) => {
      const { json, db, url } = self.optsWithGlobals<Globals>()
      if (db !== undefined || url !== undefined) {
        throw badUsage(
          `bench uses its own temporary SQLite store in --dir. Leave ${db === undefined ? '--url' : '--db'} out.`,
        )
      }
      const out = new Output(shell.terminal, json === true)
      const parent = flags.dir ?? tmpdir()
      if (!existsSync(parent)) throw badUsage(`there is no folder ${parent}`)
      const dir = await withFile(parent, () => mkdtemp(join(parent, 'wakeful-bench-')))
      // The store is temporary, so a signal removes it and exits without a shutdown.
      const unlisten = shell.terminal.onSignal(() => {
        rmSync(dir, { recursive: true, force: true })
        shell.terminal.exit(1)
      })
      try {
        const bench = {
          open: () => shell.open(`sqlite:${join(dir, 'bench.db')}`, { pool: 'bench' }),
          terminal: shell.terminal,
        }
        const bars = (label: string) => progress(shell.terminal, label)
        if (!out.json) out.note(`on a temporary store in ${dir}; every set is on disk before it returns`)
        const measured = await measure(bench, (flags.seconds ?? 2) * 1000, bars)
        out.print({
          json: () => JSON.stringify(figures(measured)),
          human: () => out.rows([COLUMNS], measured),
        })
      } finally {
        unlisten()
        await rm(dir, { recursive: true, force: true })
      }
    })
}

const COLUMNS = [
  { title: 'MEASURED', value: (row: Measured) => row.title },
  { title: 'RESULT', value: (row: Measured) => `${count(row.value)} ${row.unit}`, side: 'right' as const },
]

function figures(measured: readonly Measured[]): Record<string, number> {
  return Object.fromEntries(measured.map((row) => [row.name, row.value]))
}

/** One result. */
interface Measured {
  readonly name: string
  readonly title: string
  readonly value: number
  readonly unit: string
}

/** The store to measure, and the clocks to measure it with. */
interface Bench {
  readonly open: () => Promise<Wakeful>
  readonly terminal: Pick<Terminal, 'now' | 'monotonic'>
}

type Bars = (label: string) => Progress

const CALLERS = 64
const BATCH = 1000
const TARGET = { target: { handler: 'noop', pool: 'bench' } } as const
const FAR = { delay: '365d' } as const

/** Runs every measurement on one store, for about `eachMs` each. */
async function measure(bench: Bench, eachMs: number, bars: Bars): Promise<Measured[]> {
  const wakeful = await bench.open()
  try {
    const alone = await rate(bench, eachMs, bars('set, one caller'), 1, async () => {
      await wakeful.set(FAR, TARGET)
      return 1
    })
    const together = await rate(bench, eachMs, bars('set, 64 callers'), CALLERS, async () => {
      await wakeful.set(FAR, TARGET)
      return 1
    })
    const batch = Array.from({ length: BATCH }, () => ({ when: FAR, ...TARGET }))
    const many = await rate(
      bench,
      eachMs,
      bars('setMany'),
      1,
      async () => (await wakeful.setMany(batch)).length,
    )
    const drained = await drain(bench, wakeful, eachMs, bars('drain'))
    return [
      { name: 'set_per_s', title: 'set, one caller', value: alone, unit: 'per second' },
      { name: 'set_64_callers_per_s', title: 'set, 64 callers', value: together, unit: 'per second' },
      { name: 'set_many_per_s', title: 'setMany, 1,000 at a time', value: many, unit: 'per second' },
      { name: 'drain_per_s', title: 'fire what is due, no-op handler', value: drained, unit: 'per second' },
      ...(await lateness(bench, wakeful, eachMs, bars('lateness'))),
    ]
  } finally {
    await wakeful.close()
  }
}

async function rate(
  bench: Bench,
  forMs: number,
  bar: Progress,
  callers: number,
  call: () => Promise<number>,
): Promise<number> {
  const { terminal } = bench
  const begunAt = terminal.monotonic()
  let done = 0
  const caller = async () => {
    while (terminal.monotonic() - begunAt < forMs) {
      // In two steps, because `done += await …` would add to the value before the wait.
      const more = await call()
      done += more
      const elapsedMs = terminal.monotonic() - begunAt
      bar.at(done, Math.round((done * forMs) / Math.min(elapsedMs, forMs)))
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  bar.end()
  return Math.round((done * 1000) / (terminal.monotonic() - begunAt))
}

/** Fires alarms that are due already with a handler that does nothing. It starts the clock. */
async function drain(bench: Bench, wakeful: Wakeful, forMs: number, bar: Progress): Promise<number> {
  const total = Math.max(1, Math.round(forMs / 100)) * BATCH
  const due = Array.from({ length: BATCH }, () => ({
    when: new Date(bench.terminal.now() - 1000),
    ...TARGET,
  }))
  for (let set = 0; set < total; set += BATCH) await wakeful.setMany(due)
  const all = Promise.withResolvers<void>()
  let fired = 0
  wakeful.handle('noop', () => {
    fired++
    bar.at(fired, total)
    if (fired === total) all.resolve()
  })
  const begunAt = bench.terminal.monotonic()
  await wakeful.start()
  await all.promise
  bar.end()
  return Math.round((total * 1000) / (bench.terminal.monotonic() - begunAt))
}

/** Measures the lateness of alarms that come due one after the other. */
async function lateness(bench: Bench, wakeful: Wakeful, forMs: number, bar: Progress): Promise<Measured[]> {
  const total = Math.max(20, Math.round(forMs / 20))
  const drifts: number[] = []
  const all = Promise.withResolvers<void>()
  wakeful.handle('timed', (fire) => {
    drifts.push(fire.driftMs)
    bar.at(drifts.length, total)
    if (drifts.length === total) all.resolve()
  })
  const first = bench.terminal.now() + 500
  const items = Array.from({ length: total }, (_, index) => ({
    when: new Date(first + index * 20),
    target: { handler: 'timed', pool: 'bench' },
  }))
  for (let at = 0; at < total; at += BATCH) await wakeful.setMany(items.slice(at, at + BATCH))
  await all.promise
  bar.end()
  drifts.sort((a, b) => a - b)
  const quantile = (share: number) => drifts[Math.min(total - 1, Math.floor(total * share))]!
  return [
    { name: 'lateness_p50_ms', title: 'lateness, median', value: quantile(0.5), unit: 'ms' },
    { name: 'lateness_p99_ms', title: 'lateness, 99th percentile', value: quantile(0.99), unit: 'ms' },
  ]
}
