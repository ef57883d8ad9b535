/** `npm run bench:retention`: what retention costs beside recurring alarms that fire all the time. */
import { readCommandLine } from '../command-line.ts'
import { ProgressLine } from '../progress-line.ts'
import { formatWhole, median } from '../statistics.ts'
import { measureStore, type Part, type Round, type StoreName } from './measure.ts'

const { numbers, switches } = readCommandLine({
  script: 'bench:retention',
  summary:
    'Measures the lateness of recurring alarms with retention and without, in turns, and whether the log stops growing.',
  duration: '40 minutes; 20 with one store',
  numbers: {
    alarms: { description: 'recurring alarms; each fires once a second', min: 1, full: 1_000, smoke: 20 },
    rounds: { description: 'how often both are measured', min: 1, full: 5, smoke: 1 },
    seconds: { description: 'the length of each measurement', min: 1, full: 120, smoke: 2 },
    retention: { description: 'the retention, in seconds', min: 1, full: 60, smoke: 1 },
  },
  switches: { sqlite: 'only SQLite', postgres: 'only PostgreSQL' },
})
const { alarms, rounds, seconds, retention } = numbers
const progress = new ProgressLine()
const all: readonly StoreName[] = ['sqlite', 'postgres']
const stores = all.filter((store) => switches[store] || (!switches.sqlite && !switches.postgres))

console.log(
  `${formatWhole(alarms)} recurring alarms, each fires once a second; ${seconds} s each, rounds: ${rounds}; retention ${retention} s, and the newest 100 events of each alarm\n`,
)
for (const store of stores) {
  const measured = await measureStore(
    store,
    { alarms, rounds, seconds, retentionSeconds: retention },
    (phase) => progress.show(store, phase),
  )
  progress.clear()
  console.log(store)
  print('without', (round) => round.without, measured)
  print('with', (round) => round.with, measured)
  const ratio = median(measured.map((round) => (round.with.p99 + 1) / (round.without.p99 + 1)))
  console.log(`  p99 with retention compared with without: ×${ratio.toFixed(2)} (target: at most ×1.5)`)
}

function print(name: string, of: (round: Round) => Part, measured: readonly Round[]): void {
  const parts = measured.map(of)
  const middle = (key: keyof Part) => median(parts.map((part) => part[key]))
  const rows = parts.map((part) => formatWhole(part.rows)).join(', ')
  console.log(
    `  ${name.padEnd(8)} ${formatWhole(middle('firesPerSecond')).padStart(6)}/s   p50 ${middle('p50').toFixed(0)} ms   p99 ${middle('p99').toFixed(0)} ms   rows of the log after each round: ${rows}`,
  )
}
