/**
 * `npm run sim:sqlite`: runs seeds on real SQLite files under virtual time, each twice over: the plan that the simulated
 * store has of it, and a rush of its own. `-- --seeds 200` so many, `-- --from 7` the first of them, `-- --trace` tells
 * what happened in the first rush.
 */
import { parseArgs } from 'node:util'
import { planOf } from '../plan.ts'
import { playOnFile } from './play-on-file.ts'
import { RUSH_MS, rushOnFile } from './rush.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
  },
})
const from = Number(values.from)
const sum = { virtualMs: 0, occurrences: 0, wrong: 0 }
const began = process.cpuUsage()
for (let seed = from; seed < from + Number(values.seeds); seed++) {
  for (const text of [...(await plan(seed)), ...(await rush(seed))]) {
    sum.wrong += 1
    console.log(`seed ${seed}: ${text}`)
  }
}
const { user, system } = process.cpuUsage(began)
const seconds = (user + system) / 1e6
const perSecond = (count: number) => Math.round(count / seconds)
console.log(
  `${values.seeds} seeds, ${sum.wrong} promises broken: ${sum.occurrences} records of occurrences; a second of CPU is ${perSecond(sum.virtualMs / 1_000)} seconds of virtual time and ${perSecond(sum.occurrences)} records`,
)
if (sum.wrong > 0) process.exitCode = 1

async function plan(seed: number): Promise<string[]> {
  const planned = planOf(seed)
  // The file is looked at every 25 ms: years of that are too many looks.
  if (planned.kind === 'year') return []
  const { verdict, evidence } = await playOnFile(planned)
  sum.virtualMs += planned.endMs
  sum.occurrences += evidence.log.length
  return verdict.violations.map(({ breach, text }) => `plan: ${breach}: ${text}`)
}

async function rush(seed: number): Promise<string[]> {
  const { wrong, records, trace } = await rushOnFile(seed)
  sum.virtualMs += RUSH_MS
  sum.occurrences += records
  if (values.trace && seed === from) console.log(trace)
  return wrong.map((text) => `rush: ${text}`)
}
