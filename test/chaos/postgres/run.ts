import { readOptions } from '../../script-options.ts'
import { postgresCampaign } from './campaign.ts'
import { measure } from './measures.ts'

/** The long form of the crash test on PostgreSQL. Its options are in ../run.ts. */
export async function runPostgres(usage: string): Promise<void> {
  const values = readOptions(usage, {
    store: { type: 'string' },
    alarms: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '100' },
    restarts: { type: 'string', default: '20' },
    cuts: { type: 'string', default: '20' },
    'half-opens': { type: 'string', default: '20' },
    pauses: { type: 'string', default: '50' },
    processes: { type: 'string', default: '3' },
    /** Does not shift any wall clock. */
    'true-clocks': { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** Instead of the campaign: log, snapshot, ownership, fairness, idle, migrate, or all. */
    measure: { type: 'string' },
    /** Keeps no files, even if something was found. */
    discard: { type: 'boolean', default: false },
  })
  if (values.measure !== undefined) return measure(values.measure, Number(values.seed))
  const options = {
    alarms: Number(values.alarms),
    kills: Number(values.kills),
    restarts: Number(values.restarts),
    cuts: Number(values.cuts),
    halfOpens: Number(values['half-opens']),
    pauses: Number(values.pauses),
    processes: Number(values.processes),
    shiftsClock: !values['true-clocks'],
    seed: Number(values.seed),
  }
  console.log(`chaos: --store postgres ${JSON.stringify(options)}`)
  const started = performance.now()
  let printedAt = started
  const { violations, damage, figures } = await postgresCampaign({
    ...options,
    onFault: (text) => {
      const line = `  ${Math.round((performance.now() - started) / 1000)} s: ${text}`
      if (process.stdout.isTTY) process.stdout.write(`\r${line.padEnd(100)}`)
      else if (performance.now() - printedAt > 10_000) {
        printedAt = performance.now()
        console.log(line)
      }
    },
    ...(!values.discard && { keep: (directory: string) => console.log(`\nfiles kept in ${directory}`) }),
  })
  if (process.stdout.isTTY) process.stdout.write('\n')
  const of = (breach: string) => violations.filter((each) => each.breach === breach).length
  console.table({
    ...figures,
    lost: of('lost'),
    early: of('early'),
    'unexplained duplicates': of('duplicate') + of('uncounted'),
    'started after a cancel': of('after_cancel'),
    'not recorded exactly once': of('unrecorded') + of('recorded_twice'),
    'effects not exactly once': of('effect'),
    'writes of a former owner': of('former_owner'),
    'all violations': violations.length,
    'rows and counters': damage.length === 0 ? 'ok' : `${damage.length} faults`,
    seconds: Math.round((performance.now() - started) / 1000),
  })
  for (const { breach, promise, text } of violations.slice(0, 20))
    console.log(`${breach}: ${text} (${promise})`)
  for (const text of damage) console.log(`damage: ${text}`)
  const enough = figures.killsInFlight * 2 >= options.kills
  if (!enough)
    console.log(
      `only ${figures.killsInFlight} of ${options.kills} kills hit work in flight, which is too few`,
    )
  process.exitCode = violations.length === 0 && damage.length === 0 && enough ? 0 : 1
}
