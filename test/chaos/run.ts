import { readOptions } from '../script-options.ts'
import { campaign } from './campaign.ts'
import { runPostgres } from './postgres/run.ts'

const USAGE = `The long form of the crash test.

  node test/chaos/run.ts [--kills 200] [--pauses 0] [--processes 1] [--seed N] [--discard]

  node test/chaos/run.ts --store postgres [--alarms 20000] [--kills 100] [--restarts 20] [--cuts 20]
    [--half-opens 20] [--pauses 50] [--processes 3] [--true-clocks] [--seed N] [--discard]

  node test/chaos/run.ts --store postgres --measure log|snapshot|ownership|fairness|idle|migrate|all [--seed N]

--discard keeps no files, even if something was found; --true-clocks does not shift any wall clock.`

// `--store postgres` has separate options.
if (/--store[ =]postgres\b/.test(process.argv.join(' '))) await runPostgres(USAGE)
else await runSqlite()

async function runSqlite(): Promise<void> {
  const values = readOptions(USAGE, {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    processes: { type: 'string', default: '1' },
    pauses: { type: 'string', default: '0' },
    /** Keeps no files, even if something was found. */
    discard: { type: 'boolean', default: false },
  })
  const [kills, seed] = [Number(values.kills), Number(values.seed)]
  const [processes, pauses] = [Number(values.processes), Number(values.pauses)]
  console.log(
    `chaos: node test/chaos/run.ts --kills ${kills} --pauses ${pauses} --processes ${processes} --seed ${seed}`,
  )

  let hit = 0
  const started = performance.now()
  const result = await campaign({
    kills,
    seed,
    processes,
    pauses,
    onKill: (done, inFlight) => {
      if (inFlight > 0) hit += 1
      const line = `  ${done}/${kills} kills, ${hit} with work in flight`
      if (process.stdout.isTTY) process.stdout.write(`\r${line}`)
      else if (done % 20 === 0 || done === kills) console.log(line)
    },
    ...(!values.discard && { keep: (directory: string) => console.log(`\nfiles kept in ${directory}`) }),
  })
  if (process.stdout.isTTY) process.stdout.write('\n')

  const { violations, damage, figures } = result
  const of = (breach: string) => violations.filter((each) => each.breach === breach).length
  console.table({
    ...figures,
    lost: of('lost'),
    early: of('early'),
    'unexplained duplicates': of('duplicate') + of('uncounted'),
    'started after a cancel': of('after_cancel'),
    'not recorded exactly once': of('unrecorded') + of('recorded_twice'),
    'effects not exactly once': of('effect'),
    'all violations': violations.length,
    'integrity and counters': damage.length === 0 ? 'ok' : `${damage.length} faults`,
    seconds: Math.round((performance.now() - started) / 1000),
  })
  for (const { breach, promise, text } of violations.slice(0, 20))
    console.log(`${breach}: ${text} (${promise})`)
  for (const text of damage) console.log(`damage: ${text}`)
  const enough = figures.killsInFlight * 2 >= kills
  if (!enough)
    console.log(`only ${figures.killsInFlight} of ${kills} kills hit work in flight, which is too few`)
  process.exitCode = violations.length === 0 && damage.length === 0 && enough ? 0 : 1
}
