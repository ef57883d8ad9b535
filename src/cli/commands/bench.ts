import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import { open, type Wakeful } from '../../index.ts'
import { addCommand, type Globals, wholeNumber } from '../arguments/index.ts'
import { type CliContext, Output, type Terminal, withFile, withProgress } from '../terminal/index.ts'
import { count } from '../text/index.ts'

/** `bench`: measures how fast this machine sets and fires alarms, on a temporary store. */
export function addBench(program: Command, cli: CliContext): void {
  addCommand(program, 'bench', 'measure how fast this machine sets and fires alarms', [
    'bench',
    'bench --dir /var/lib/wakeful --seconds 5',
  ])
    .option('--dir <dir>', 'the folder of the temporary store (default: the system’s)')
    .option('--seconds <n>', 'duration of each measurement (default 2)', wholeNumber(1, 600))
    .action(async (flags: { dir?: string; seconds?: number }, self: Command) => {
      const { json, db, url } = self.optsWithGlobals<Globals>()
      if (db !== undefined || url !== undefined)
        throw new WakefulError('cli.bench_store', {}, { field: db === undefined ? 'url' : 'db' })
      const out = new Output(cli.terminal, json === true)
      const parent = flags.dir ?? tmpdir()
      if (!existsSync(parent)) throw new WakefulError('cli.no_folder', { folder: parent }, { field: 'dir' })
      const dir = await withFile(parent, () => mkdtemp(join(parent, 'wakeful-bench-')))
      // The store is temporary, so a signal removes it and exits without a shutdown.
      const unlisten = cli.terminal.onSignal(() => {
        rmSync(dir, { recursive: true, force: true })
        cli.terminal.exit(1)
      })
      try {
        const wakeful = await open(`sqlite:${join(dir, 'bench.db')}`, { pool: POOL })
        if (!out.json) out.note(`on a temporary store in ${dir}; every set is on disk before it returns`)
        const bench = { wakeful, terminal: cli.terminal, eachMs: (flags.seconds ?? 2) * 1000 }
        const measured = await measure(bench).finally(() => wakeful.close())
        const figures = Object.fromEntries(measured.map((row) => [row.name, row.value]))
        out.print(JSON.stringify(figures), () => out.rows([COLUMNS], measured))
      } finally {
        unlisten()
        await rm(dir, { recursive: true, force: true })
      }
    })
}

interface Measured {
  readonly name: string
  readonly title: string
  readonly value: number
  readonly unit: string
}

/** The store to measure, the clocks to measure it with, and about how long each measurement takes. */
interface Bench {
  readonly wakeful: Wakeful
  readonly terminal: Terminal
  readonly eachMs: number
}

const COLUMNS = [
  { title: 'MEASURED', value: (row: Measured) => row.title },
  { title: 'RESULT', value: (row: Measured) => `${count(row.value)} ${row.unit}`, side: 'right' as const },
]
const POOL = 'bench'
const CALLERS = 64
const BATCH = 1000
const TARGET = { target: { handler: 'noop', pool: POOL } }
const FAR = { delay: '365d' }

async function measure(bench: Bench): Promise<Measured[]> {
  const { wakeful, terminal, eachMs } = bench
  const setOne = async () => {
    await wakeful.set(FAR, TARGET)
    return 1
  }
  const batch = Array.from({ length: BATCH }, () => ({ when: FAR, ...TARGET }))
  const setBatch = async () => (await wakeful.setMany(batch)).length
  const alone = await rate(bench, 'set, one caller', 1, setOne)
  const together = await rate(bench, 'set, 64 callers', CALLERS, setOne)
  const many = await rate(bench, 'setMany', 1, setBatch)
  // Alarms that are due already, and a handler that does nothing. This starts the clock.
  const due = Math.max(1, Math.round(eachMs / 100)) * BATCH
  const past = new Date(terminal.now() - 1000)
  const drained = await fireAll(bench, 'drain', due, () => past)
  // Alarms that come due one after the other.
  const first = terminal.now() + 500
  const timed = Math.max(20, Math.round(eachMs / 20))
  const { driftsMs } = await fireAll(bench, 'lateness', timed, (at) => new Date(first + at * 20))
  driftsMs.sort((a, b) => a - b)
  const quantile = (share: number) => driftsMs[Math.min(timed - 1, Math.floor(timed * share))]!
  const unit = 'per second'
  const drainRate = Math.round((due * 1000) / drained.tookMs)
  return [
    { name: 'set_per_s', title: 'set, one caller', value: alone, unit },
    { name: 'set_64_callers_per_s', title: 'set, 64 callers', value: together, unit },
    { name: 'set_many_per_s', title: 'setMany, 1,000 at a time', value: many, unit },
    { name: 'drain_per_s', title: 'fire what is due, no-op handler', value: drainRate, unit },
    { name: 'lateness_p50_ms', title: 'lateness, median', value: quantile(0.5), unit: 'ms' },
    { name: 'lateness_p99_ms', title: 'lateness, 99th percentile', value: quantile(0.99), unit: 'ms' },
  ]
}

/** How many per second are set by callers that each wait for their last call. */
async function rate(
  { terminal, eachMs }: Bench,
  label: string,
  callers: number,
  call: () => Promise<number>,
): Promise<number> {
  const begunAt = terminal.monotonic()
  let done = 0
  await withProgress(terminal, label, async (onProgress) => {
    const caller = async () => {
      while (terminal.monotonic() - begunAt < eachMs) {
        // In two steps, because `done += await …` would add to the value before the wait.
        const more = await call()
        done += more
        const elapsedMs = terminal.monotonic() - begunAt
        onProgress(done, Math.round((done * eachMs) / Math.min(elapsedMs, eachMs)))
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  })
  return Math.round((done * 1000) / (terminal.monotonic() - begunAt))
}

/** Sets alarms, starts the clock, and waits until all have fired. */
async function fireAll(
  { wakeful, terminal }: Bench,
  handler: string,
  total: number,
  whenOf: (index: number) => Date,
): Promise<{ driftsMs: number[]; tookMs: number }> {
  return withProgress(terminal, handler, async (onProgress) => {
    const driftsMs: number[] = []
    const all = Promise.withResolvers<void>()
    wakeful.handle(handler, ({ driftMs }) => {
      onProgress(driftsMs.push(driftMs), total)
      if (driftsMs.length === total) all.resolve()
    })
    const target = { handler, pool: POOL }
    const items = Array.from({ length: total }, (_, index) => ({ when: whenOf(index), target }))
    for (let at = 0; at < total; at += BATCH) await wakeful.setMany(items.slice(at, at + BATCH))
    const begunAt = terminal.monotonic()
    await wakeful.start()
    await all.promise
    return { driftsMs, tookMs: terminal.monotonic() - begunAt }
  })
}
