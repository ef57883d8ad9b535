import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url)
/** Generous: a smoke run takes seconds, but the machine may be busy. */
const TIMEOUT_MS = 300_000

const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  scripts: Record<string, string>
}
const benchmarks = Object.keys(scripts).filter((name) => /^bench(?::|$)/.test(name))

const RATES = ['setAlone', 'setBy64', 'setMany', 'drain']
const LATENESS = 'lateness p50 # ms p99 # ms max # ms early #'
const SQLITE_FIGURES = [
  ...RATES.map((rate) => `${rate} #/s raw #/s #% of raw`),
  '64 callers are ×# the rate of one',
  LATENESS,
]
const RECURRING_FIGURES = [
  ...['raw', 'raw with next instants', 'Wakeful'].map(
    (name) => `${name} #/s #% of raw (#% to #%); CPU # µs, #% of raw`,
  ),
  'where the time of Wakeful goes, without idle time',
  '#%',
  'functions that take the most',
  '#%',
]
const RETENTION_FIGURES = [
  'without #/s p50 # ms p99 # ms rows of the log after each round: #',
  'with #/s p50 # ms p99 # ms rows of the log after each round: #',
  'p99 with retention compared with without: ×# (target: at most ×#)',
]
const POSTGRES_FIGURES = [
  LATENESS,
  'cancels by 64 callers: #/s; meanwhile # of 300 fires/s, p99 # ms late',
  'cancels of alarms due within a minute: #/s; meanwhile # of 300 fires/s, p99 # ms late',
  'drain by one process #/s, by two #/s',
]

function postgresRates(names: readonly string[]): string[] {
  return RATES.flatMap((rate) =>
    names.map((name) => `${rate} ${name} #/s # + @ µs${name === 'Wakeful' ? '' : ' Wakeful ×#'}`),
  )
}

/**
 * What the smoke form of each benchmark prints, in this order. `#` stands for a number, which before `/s` is not zero,
 * and `@` for one that some systems do not know.
 */
const FIGURES: Readonly<Record<string, readonly string[]>> = {
  bench: [
    'empty file',
    ...SQLITE_FIGURES,
    '2,000 pending',
    ...SQLITE_FIGURES,
    'compared with the empty file',
    ...RATES.map((rate) => `${rate} ×#`),
  ],
  'bench:time': [
    'cron Wakeful #/s #/s',
    'cron croner #/s ×# #/s ×#',
    'rrule Wakeful #/s #/s',
    'rrule rrule-temporal #/s ×# #/s ×#',
    'phrase Wakeful #/s #/s',
    'every Wakeful #/s #/s',
  ],
  'bench:postgres': [
    'empty tables',
    ...postgresRates(['Wakeful', 'raw', 'graphile-worker', 'pg-boss']),
    ...POSTGRES_FIGURES,
    '2,000 pending',
    ...postgresRates(['Wakeful', 'raw']),
    ...POSTGRES_FIGURES,
    'drain compared with graphile-worker: #× (target: at least #×)',
    'drain compared with raw: #× (target: at least #×)',
    'set by 64 callers compared with pg-boss: #× (target: at least #×)',
    'setMany compared with pg-boss: #× (target: at least #×)',
    'cancels by 64 callers: #/s (target: at least #/s)',
    'fires during the cancels: #/s (target: at least #/s)',
    'lateness p50: # ms (target: at most # ms)',
    'lateness p99: # ms (target: at most # ms)',
    'drain by two processes compared with one: #× (target: at least #×)',
    'lateness p50 compared with empty tables: #× (target: at most #×)',
    'lateness p99 compared with empty tables: #× (target: at most #×)',
    'drain compared with raw, with pending alarms: #× (target: at least #×)',
  ],
  'bench:server': [
    'POST /v1/alarms, 64 connections, per s # # (#) # (#)',
    'webhooks per second to a local sink # (200 due at one instant)',
    'the same while the API is called #',
    'latency of the API meanwhile, ms p50 #, p99 #, max #',
  ],
  'bench:retention': ['sqlite', ...RETENTION_FIGURES, 'postgres', ...RETENTION_FIGURES],
  'bench:recurring': ['event', ...RECURRING_FIGURES, 'handler', ...RECURRING_FIGURES],
}

describe('benchmarks', () => {
  it('all have a smoke form that is tested here', () => {
    expect(Object.keys(FIGURES).sort()).toEqual(benchmarks.sort())
  })

  for (const name of benchmarks) {
    it(`npm run ${name} -- --smoke prints every figure`, { timeout: TIMEOUT_MS }, async () => {
      expectFigures(await run(...scriptArguments(name), '--smoke'), FIGURES[name]!)
    })
  }

  it.each(benchmarks)('npm run %s -- --help describes the flags', async (name) => {
    const text = await run(...scriptArguments(name), '--help')
    expect(text).toContain(`npm run ${name} -- [flags]`)
    expect(text).toMatch(/^ {2}--rounds N +\S/m)
    expect(text).toMatch(/^ {2}--smoke +\S/m)
  })

  it('wakeful bench prints every figure', { timeout: TIMEOUT_MS }, async () => {
    expectFigures(await run('src/cli/main.ts', 'bench', '--seconds', '1'), [
      'set, one caller # per second',
      'set, 64 callers # per second',
      'setMany, 1,000 at a time # per second',
      'fire what is due, no-op handler # per second',
      'lateness, median # ms',
      'lateness, 99th percentile # ms',
    ])
  })
})

/** The arguments of `node` in a script of package.json. */
function scriptArguments(name: string): string[] {
  const [command, ...args] = scripts[name]!.split(' ')
  expect(command).toBe('node')
  return args
}

/** Runs a program and returns its stdout; rejects with its stderr if it fails. */
async function run(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    timeout: TIMEOUT_MS - 10_000,
    env: { ...process.env, NO_COLOR: '1' },
  })
  return stdout
}

function expectFigures(text: string, expected: readonly string[]): void {
  expect(text).not.toMatch(/\b(?:NaN|Infinity|undefined|null)\b/)
  let rest = text
  for (const line of expected) {
    const match = pattern(line).exec(rest)
    expect(match, `"${line}" is missing from:\n${rest}`).not.toBeNull()
    rest = rest.slice(match!.index + match![0].length)
  }
}

const NUMBER = '-?\\d[\\d,]*(?:\\.\\d+)?'

function pattern(line: string): RegExp {
  const escaped = line.replaceAll(/[()[\].*+?^$|\\]/g, '\\$&')
  return new RegExp(
    escaped
      .replaceAll(' ', ' +')
      .replaceAll('#/s', '(?=[\\d,.]*[1-9])\\d[\\d,]*(?:\\.\\d+)?/s')
      .replaceAll('#', ` *${NUMBER}`)
      .replaceAll('@', `(?:${NUMBER}|unknown)`),
  )
}
