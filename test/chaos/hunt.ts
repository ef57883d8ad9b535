import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Copy, type Planted, root } from './plant.ts'

/** The result of the hunt for one bug. */
export interface Finding {
  readonly bug: string
  readonly isCaught: boolean
  /** The judge that must find it. */
  readonly judge: 'campaign' | 'simulation' | 'test'
  /** The promises and violations found, or the failing test. */
  readonly promises: readonly string[]
  readonly breaches: readonly string[]
  /** The number of simulated worlds until it was found. */
  readonly seeds: number | null
  readonly output: string
}

/** Options of a hunt. */
export interface HuntOptions {
  /** How many bugs are hunted at a time, each in its own copy. */
  readonly parallel?: number
  readonly onFinding?: (finding: Finding) => void
}

/** Longer than any judge takes. */
const JUDGE_MS_MAX = 20 * 60_000

/** Plants each bug and lets its judge look for it. */
export async function hunt(all: readonly Planted[], options: HuntOptions = {}): Promise<Finding[]> {
  const { parallel = 1, onFinding } = options
  const findings = new Map<Planted, Finding>()
  const left = [...all]
  const work = async () => {
    const copy = new Copy()
    try {
      for (let planted = left.shift(); planted !== undefined; planted = left.shift()) {
        const bug = planted
        const finding = await copy.while(bug, (path) => judged(path, bug))
        findings.set(bug, finding)
        onFinding?.(finding)
      }
    } finally {
      copy.remove()
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, all.length) }, work))
  return all.map((planted) => findings.get(planted)!)
}

/** The findings as a table for the docs. */
export function tableOf(findings: readonly Finding[]): string[] {
  const rows = findings.map(({ bug, isCaught, judge, promises, breaches, seeds }) => {
    const found = isCaught ? breaches.join(', ') : 'MISSED'
    return [bug, promises.join(', '), found, ...(seeds === null ? [judge] : [`${seeds}`])]
  })
  return [['bug', 'promise', 'found as', 'seeds, or judge'], ['---', '---', '---', '---'], ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
}

async function judged(copy: string, { bug, by }: Planted): Promise<Finding> {
  if ('test' in by) {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const { output, status } = await run(copy, [vitest, 'run', by.file, '-t', by.test])
    const isCaught = status !== 0 && output.includes('1 failed')
    const breaches = isCaught ? [`a test fails: ${by.test}`] : []
    return { bug, isCaught, judge: 'test', promises: [], breaches, seeds: null, output }
  }
  if ('simulation' in by) {
    const { seeds, isBoot } = by.simulation
    const options = ['--seeds', String(seeds), '--threads', '1', '--first', ...(isBoot ? ['--boot'] : [])]
    const { output } = await run(copy, [join('test', 'simulation', 'run.ts'), ...options])
    return { bug, judge: 'simulation', output, ...simulated(output, by.breaches) }
  }
  const { output } = await run(copy, [join('test', 'chaos', 'run.ts'), ...by.campaign, '--discard'])
  const breaches = [...new Set(output.match(/^\w+(?=: )/gm) ?? [])].filter((word) => word !== 'chaos')
  const isCaught = by.breaches.some((breach) => breaches.includes(breach))
  return { bug, isCaught, judge: 'campaign', promises: [], breaches, seeds: null, output }
}

function simulated(output: string, expected: readonly string[]) {
  const wrongs = [...output.matchAll(/^first: seed (\d+): ([\w-]+): (\w+): /gm)]
  const breaches = [...new Set(wrongs.map(([, , , breach]) => breach!))]
  return {
    isCaught: expected.some((breach) => breaches.includes(breach)),
    promises: [...new Set(wrongs.map(([, , promise]) => promise!))],
    breaches,
    seeds: wrongs.length === 0 ? null : Number(wrongs[0]![1]) + 1,
  }
}

async function run(cwd: string, args: readonly string[]): Promise<{ output: string; status: number | null }> {
  const env = { ...process.env, NO_COLOR: '1' }
  const child = spawn(process.execPath, args, { cwd, env, timeout: JUDGE_MS_MAX })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { output: `${stdout}\n${stderr}`, status: await ended }
}
