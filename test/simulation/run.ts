/**
 * `npm run sim`: runs seeds and says what they came to. `-- --seeds 10000` so many, `-- --nightly` until it is stopped,
 * `-- --seed 7 [--trace]` one, shrunk to a short story where it fails.
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

  --store <name>   on the simulated database (simulated), or on real SQLite files (sqlite)
  --seeds <n>      run so many seeds (1000)
  --from <seed>    the first of them (0)
  --nightly        run until stopped, or until five have failed, from a seed that the clock gives (or --from)
  --first          stop at the first seed that fails, and say which promises it breaks
  --threads <n>    on so many threads (all cores)
  --seed <n>       run this one and say what was wrong; a failing one is shrunk first
  --trace          with --seed: tell everything that happened
  --whole          with --seed: do not shrink
  --save <file>    with --seed: keep the shrunk plan of a failing one
  --plan <file>    run a plan that was kept
  --help`

const FAILURES_MAX = 5
const PROGRESS_MS = process.stderr.isTTY ? 500 : 10_000

const values = argumentsGiven()
const store = storeName(values.store)
/** How the same store is named again. */
const ON_STORE = store === 'simulated' ? '' : ` --store ${store}`

if (values.help) console.log(USAGE)
else if (values.plan !== undefined) await runOne(readPlan(values.plan))
else if (values.seed !== undefined) await runOne(planFor(store, wholeNumber('seed', values.seed)))
else if (values.trace || values.whole || values.save !== undefined)
  refuse('--trace, --whole and --save are about one run: name it with --seed or --plan')
else await runMany()

function argumentsGiven() {
  try {
    return parseArgs({
      options: {
        store: { type: 'string', default: 'simulated' },
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

/** Says what was wrong about the arguments, and what would be right. */
function refuse(text: string): never {
  console.error(`${text}\n\n${USAGE}`)
  process.exit(2)
}

function storeName(text: string): StoreName {
  if (text === 'simulated' || text === 'sqlite') return text
  return refuse(`--store is simulated or sqlite, not ${JSON.stringify(text)}`)
}

function wholeNumber(name: string, text: string, least = 0): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least) return number
  return refuse(`--${name} takes a whole number from ${least} on, not ${JSON.stringify(text)}`)
}

function readPlan(path: string): Plan {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Plan
  } catch (thrown) {
    return refuse(`--plan names a file that --save has written: ${(thrown as Error).message}`)
  }
}

async function runOne(plan: Plan): Promise<void> {
  const withTrace = values.trace
  const played = await playOn(store, plan, true)
  const [first] = played.judgement.violations
  if (first === undefined) {
    if (withTrace) console.log(runReport(played, true))
    console.log(`seed ${plan.seed}: nothing wrong; trace ${played.world.trace.hash}`)
    for (const line of played.world.faults.lines) console.log(`  ${line}`)
    if (values.save !== undefined) console.log(`${values.save} is not written: there is nothing to keep`)
    return
  }
  process.exitCode = 1
  if (values.whole) return console.log(runReport(played, withTrace))
  console.error(`seed ${plan.seed}: ${first.promise}: ${first.breach}: ${first.text}`)
  const onProgress = ({ alarms, faults }: Plan, tries: number) =>
    console.error(`shrinking: ${alarms.length} alarms, ${faults.length} faults after ${tries} runs`)
  const short = await shrink(plan, first.breach, { play: (each) => playOn(store, each), onProgress })
  console.log(runReport(await playOn(store, short, true), withTrace))
  if (values.save === undefined) return
  writeFileSync(values.save, `${JSON.stringify(short, null, 2)}\n`)
  console.log(`kept in ${values.save}: npm run sim --${ON_STORE} --plan ${values.save}`)
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
  if (sum.missed.length > 0) console.log(`never hit anything: ${sum.missed.join(', ')}`)
  // Threads may have ended them in another order.
  const [first] = sum.failures.sort((a, b) => a.seed - b.seed)
  if (first === undefined) return
  process.exitCode = 1
  for (const line of values.first ? problemsOf(first) : []) console.log(line)
  console.log(`the first that failed: npm run sim --${ON_STORE} --seed ${first.seed}`)
}

/** One line for each kind of wrong, in the form that `npm run test:planted` reads. */
function problemsOf({ seed, violations }: Result): string[] {
  const kinds = Map.groupBy(violations, ({ promise, breach }) => `${promise}: ${breach}`)
  return [...kinds].map(([kind, [one]]) => `first: seed ${seed}: ${kind}: ${one!.text}`)
}
