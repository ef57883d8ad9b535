/**
 * `npm run sim`: runs seeds and reports the results. `-- --seeds 10000` runs that many, `-- --nightly` runs until
 * stopped, `-- --seed 7 [--trace]` runs one and shrinks it if it fails.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { campaign } from './campaign.ts'
import type { Plan } from './plan.ts'
import { planFor, playOn, type Result, type StoreName } from './result.ts'
import { runReport } from './run-report.ts'
import { shrink } from './shrink.ts'
import { Sum } from './sum.ts'

const USAGE = `npm run sim [-- options]

  --store <name>   simulated (default) or sqlite (real SQLite files)
  --boot           programs that declare their alarms at every start, with downtimes, pauses and changes
  --seeds <n>      number of seeds to run (1000)
  --from <seed>    first seed (0)
  --nightly        run until stopped or until five seeds have failed, starting at a seed taken from the clock (or --from)
  --first          stop at the first failing seed and list its violations
  --threads <n>    number of threads (all cores)
  --seed <n>       run one seed; if it fails, shrink it and print a report
  --trace          with --seed: print the whole trace
  --whole          with --seed: do not shrink
  --save <file>    with --seed: write the shrunk plan of a failing seed
  --plan <file>    run a saved plan
  --help`

const FAILURES_MAX = 5
const PROGRESS_MS = process.stderr.isTTY ? 500 : 10_000

const values = parseArguments()
const store = storeName(values.store)
/** The option that selects the same store. */
const ON_STORE = store === 'simulated' ? '' : ` --store ${store}`

if (values.help) console.log(USAGE)
else if (values.plan !== undefined) await runOne(readPlan(values.plan))
else if (values.seed !== undefined)
  await runOne(planFor(store, wholeNumber('seed', values.seed), values.boot))
else if (values.trace || values.whole || values.save !== undefined)
  refuse('--trace, --whole and --save apply to one run: add --seed or --plan')
else await runMany()

function parseArguments() {
  try {
    return parseArgs({
      options: {
        store: { type: 'string', default: 'simulated' },
        boot: { type: 'boolean', default: false },
        seeds: { type: 'string', default: '1000' },
        from: { type: 'string' },
        nightly: { type: 'boolean', default: false },
        first: { type: 'boolean', default: false },
        threads: { type: 'string' },
        seed: { type: 'string' },
        trace: { type: 'boolean', default: false },
        whole: { type: 'boolean', default: false },
        save: { type: 'string' },
        plan: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (thrown) {
    return refuse((thrown as Error).message)
  }
}

/** Reports invalid arguments with the usage. */
function refuse(text: string): never {
  console.error(`${text}\n\n${USAGE}`)
  process.exit(2)
}

function storeName(text: string): StoreName {
  if (text === 'simulated' || text === 'sqlite') return text
  return refuse(`--store must be simulated or sqlite, not ${JSON.stringify(text)}`)
}

function wholeNumber(name: string, text: string, least = 0): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least) return number
  return refuse(`--${name} must be an integer of at least ${least}, not ${JSON.stringify(text)}`)
}

function readPlan(path: string): Plan {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Plan
  } catch (thrown) {
    return refuse(`--plan must name a file written by --save: ${(thrown as Error).message}`)
  }
}

async function runOne(plan: Plan): Promise<void> {
  const withTrace = values.trace
  const played = await playOn(store, plan, true)
  const [first] = played.judgement.violations
  if (first === undefined) {
    if (withTrace) console.log(runReport(played, true))
    console.log(`seed ${plan.seed}: no violations; trace ${played.world.trace.hash}`)
    for (const line of played.world.faults.lines) console.log(`  ${line}`)
    if (values.save !== undefined) console.log(`${values.save} was not written: the seed did not fail`)
    return
  }
  process.exitCode = 1
  if (values.whole) return console.log(runReport(played, withTrace))
  console.error(`seed ${plan.seed}: ${first.promise}: ${first.breach}: ${first.text}`)
  const onProgress = ({ alarms, faults }: Plan, runs: number) =>
    console.error(`shrinking: ${alarms.length} alarms, ${faults.length} faults after ${runs} runs`)
  const short = await shrink(plan, first.breach, { play: (each) => playOn(store, each), onProgress })
  console.log(runReport(await playOn(store, short, true), withTrace))
  if (values.save === undefined) return
  writeFileSync(values.save, `${JSON.stringify(short, null, 2)}\n`)
  console.log(`saved to ${values.save}: npm run sim --${ON_STORE} --plan ${values.save}`)
}

async function runMany(): Promise<void> {
  const { nightly, threads } = values
  const from = wholeNumber('from', values.from ?? (nightly ? String(Math.floor(Date.now() / 1_000)) : '0'))
  const count = wholeNumber('seeds', values.seeds, 1)
  const sum = new Sum()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const started = performance.now()
  const elapsed = () => `${((performance.now() - started) / 1_000).toFixed(0)} s`
  const progress = setInterval(() => console.error(`${sum.line}, ${elapsed()}`), PROGRESS_MS)
  await campaign({
    store,
    isBoot: values.boot,
    from,
    ...(!nightly && { count }),
    ...(threads !== undefined && { threads: wholeNumber('threads', threads, 1) }),
    signal: stop.signal,
    onResult: (result) => {
      sum.add(result)
      for (const { promise, breach, text } of result.violations.slice(0, 3))
        console.error(`seed ${result.seed}: ${promise}: ${breach}: ${text}`)
      if (sum.failures.length >= (values.first ? 1 : FAILURES_MAX)) stop.abort()
    },
  })
  clearInterval(progress)
  console.log(`${sum.line}, ${elapsed()}`)
  for (const line of sum.table) console.log(line)
  if (sum.missed.length > 0) console.log(`faults that never hit anything: ${sum.missed.join(', ')}`)
  // Threads may finish out of order.
  const [first] = sum.failures.sort((a, b) => a.seed - b.seed)
  if (first === undefined) return
  process.exitCode = 1
  for (const line of values.first ? problemsOf(first) : []) console.log(line)
  console.log(`first failing seed: npm run sim --${ON_STORE} --seed ${first.seed}`)
}

/** One line for each kind of violation, in the form that `npm run test:planted` reads. */
function problemsOf({ seed, violations }: Result): string[] {
  const kinds = Map.groupBy(violations, ({ promise, breach }) => `${promise}: ${breach}`)
  return [...kinds].map(([kind, [one]]) => `first: seed ${seed}: ${kind}: ${one!.text}`)
}
