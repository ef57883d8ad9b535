import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { addCommand, wholeNumber } from '../arguments/command.ts'
import type { Globals } from '../arguments/globals.ts'
import { badUsage, withFile } from '../terminal/failure.ts'
import { Output } from '../terminal/output.ts'
import { count, progress } from '../terminal/progress.ts'
import type { Shell } from '../terminal/shell.ts'
import { type Measured, measure } from './bench-run.ts'

/** `bench`: how fast this machine sets and fires, on a store of its own. */
export function addBench(program: Command, shell: Shell): void {
  addCommand(program, 'bench', 'measure how fast this machine sets and fires', [
    'bench',
    'bench --dir /var/lib/wakeful --seconds 5',
  ])
    .option('--dir <dir>', 'where to make the temporary store (default: the system’s)')
    .option('--seconds <n>', 'how long each measurement lasts (default 2)', wholeNumber(1, 600))
    .action(async (flags: { dir?: string; seconds?: number }, self: Command) => {
      const { json, db, url } = self.optsWithGlobals<Globals>()
      if (db !== undefined || url !== undefined) {
        throw badUsage(
          `bench measures SQLite, on a temporary store of its own in --dir: leave ${db === undefined ? '--url' : '--db'} out`,
        )
      }
      const out = new Output(shell.terminal, json === true)
      const parent = flags.dir ?? tmpdir()
      if (!existsSync(parent)) throw badUsage(`there is no folder ${parent}`)
      const dir = await withFile(parent, () => mkdtemp(join(parent, 'wakeful-bench-')))
      // Nothing of it is worth ending in order: the folder goes, and the process with it.
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
        if (!out.json) out.aside(`on a temporary store in ${dir}; every set is on the disk before it answers`)
        const measured = await measure(bench, (flags.seconds ?? 2) * 1000, bars)
        out.answer({
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
