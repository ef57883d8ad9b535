/** `npm run bench:postgres`: Wakeful on PostgreSQL beside its raw loop, graphile-worker and pg-boss, interleaved in one run. */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { Report } from '../report.ts'
import { onServer } from './bed.ts'
import { measureRounds, type Round, type Sizes } from './measure.ts'
import { print, printTargets } from './print.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '3' },
    million: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(`npm run bench:postgres -- [--rows 30000] [--rounds 3] [--million]

  --rows N     how many alarms are drained, set in bulk and cancelled at a time (30000)
  --rounds N   how often everything is measured, in turns; medians are told (3)
  --million    once more beside a million pending alarms; takes 2 GB in the temporary folder, for a while`)
  process.exit(0)
}
const report = new Report()
const rounds = Number(values.rounds)
const sizes: Sizes = { rows: Number(values.rows), late: 1_000, lateOverMs: 20_000, pending: 0 }
const before = loadavg()[0]!

const { empty, full } = await onServer(async (bed) => {
  const measured = (name: string, each: Sizes): Promise<Round[]> =>
    measureRounds(bed, rounds, each, (phase) => report.say(`${name}, ${phase}`))
  return {
    empty: await measured('empty', sizes),
    full: values.million ? await measured('a million pending', { ...sizes, pending: 1_000_000 }) : null,
  }
})
report.end()

console.log(
  `node ${process.version}, a PostgreSQL of its own with fsync and synchronous_commit on, ${cpus().length} cores shared with it;
load ${before.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after; medians of ${rounds} rounds; due order = creation order, all at one instant,
no-op handler, payload of 100 bytes; raw = the same statements in a bare loop; µs = processor time each, here + in the server\n`,
)
print('empty tables', empty)
if (full !== null) print('1,000,000 pending', full)
printTargets(empty, full)
