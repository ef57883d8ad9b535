import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Breach } from '../judge/breach.ts'

/** A change that puts a fault into the sources. */
export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A fault put into a copy of the sources, and who must find it. */
export interface Planted {
  readonly bug: string
  readonly edits: readonly Edit[]
  /** A campaign with these arguments must call it one of these; or a test of this name must fail. */
  readonly by:
    | { readonly campaign: readonly string[]; readonly breaches: readonly (Breach | 'damage')[] }
    | { readonly test: string; readonly file: string }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['src', 'test', 'package.json', 'vitest.config.ts']

/** Plants each bug and says which were caught: whether the judge finds bugs that are really there. */
export function plantAll(all: readonly Planted[], only?: string): void {
  const chosen = all.filter(({ bug }) => only === undefined || bug.includes(only))
  let missed = 0
  for (const planted of chosen) {
    const { isCaught, words, output } = runOn(planted)
    if (!isCaught) missed += 1
    console.log(`${isCaught ? 'caught' : 'MISSED'}  ${planted.bug} (${words})`)
    if (!isCaught) console.log(output)
  }
  console.log(`${chosen.length - missed} of ${chosen.length} planted bugs were caught`)
  process.exitCode = missed === 0 ? 0 : 1
}

interface Finding {
  readonly isCaught: boolean
  readonly words: string
  readonly output: string
}

function runOn({ bug, edits, by }: Planted): Finding {
  const copy = mkdtempSync(join(tmpdir(), 'wakeful-planted-'))
  try {
    for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const edit of edits) plant(copy, bug, edit)
    if ('test' in by) {
      const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
      const { output, status } = run(copy, [vitest, 'run', by.file, '-t', by.test])
      const isCaught = status !== 0 && output.includes('1 failed')
      return { isCaught, words: isCaught ? `a test fails: ${by.test}` : '', output }
    }
    const { output } = run(copy, [join('test', 'chaos', 'run.ts'), ...by.campaign, '--discard'])
    const found = [...new Set(output.match(/^\w+(?=: )/gm) ?? [])].filter((word) => word !== 'chaos')
    return { isCaught: by.breaches.some((breach) => found.includes(breach)), words: found.join(', '), output }
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
  }
}

function plant(copy: string, bug: string, { file, from, to }: Edit): void {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`cannot plant "${bug}": ${file} no longer says ${from}`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
}

function run(cwd: string, args: readonly string[]): { output: string; status: number | null } {
  const env = { ...process.env, NO_COLOR: '1' }
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' })
  return { output: `${stdout}\n${stderr}`, status }
}
