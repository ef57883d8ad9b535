/** `npm run bench:recurring`: how fast recurring alarms that share 300 rules are drained, compared with a raw loop. */
import { readCommandLine } from '../command-line.ts'
import { ProgressLine } from '../progress-line.ts'
import { formatWhole, median, type Throughput } from '../statistics.ts'
import { CONTENDERS, type Contender, measureVariant, type Round } from './measure.ts'
import { type FunctionTime, IDLE } from './profile.ts'
import { RULES } from './rules.ts'

const { form, numbers, switches } = readCommandLine({
  script: 'bench:recurring',
  summary: `Measures how fast recurring alarms of ${RULES.length} rules are drained on SQLite, compared with the same statements in a bare loop.`,
  duration: 'about 2 minutes; a million rows take up to 3 GB in the temporary folder',
  numbers: {
    rows: { description: 'how many recurring alarms are due', min: 1, full: 50_000, smoke: 600 },
    rounds: {
      description: 'how often everything is measured; the medians are printed',
      min: 1,
      full: 5,
      smoke: 1,
    },
  },
  switches: { profile: 'also print where the time of Wakeful goes' },
})
const { rows, rounds } = numbers
const NAMES: Readonly<Record<Contender, string>> = {
  raw: 'raw',
  rawWithInstants: 'raw with next instants',
  wakeful: 'Wakeful',
}
const progress = new ProgressLine()

console.log(
  `${formatWhole(rows)} recurring alarms of ${RULES.length} rules, each drained once; medians, rounds: ${rounds}; CPU = processor time per alarm\n`,
)
for (const variant of ['event', 'handler'] as const) {
  const measured = await measureVariant(
    variant,
    { rows, rounds, profile: switches.profile || form === 'smoke' },
    (phase, detail) => progress.show(`${variant}: ${phase}`, detail),
  )
  progress.clear()
  console.log(variant)
  for (const contender of CONTENDERS) console.log(row(contender, measured.rounds))
  if (measured.times !== null) printTimes(measured.times)
}

function row(contender: Contender, measured: readonly Round[]): string {
  const of = (key: keyof Throughput) => median(measured.map((round) => round[contender][key]))
  const shares = measured.map((round) => round[contender].perSecond / round.raw.perSecond)
  const cpuShare = median(measured.map((round) => round.raw.cpuUs / round[contender].cpuUs))
  const range = `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))}`
  return (
    `  ${NAMES[contender].padEnd(22)} ${formatWhole(of('perSecond')).padStart(8)}/s  ${percent(median(shares)).padStart(4)} of raw (${range});` +
    `  CPU ${of('cpuUs').toFixed(1).padStart(5)} µs, ${percent(cpuShare).padStart(4)} of raw`
  )
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`
}

/** Prints the time per part of the code base, and the functions that take the most of it. */
function printTimes(times: readonly FunctionTime[]): void {
  const groups = new Map<string, number>()
  for (const { group, ms } of times) if (group !== IDLE) groups.set(group, (groups.get(group) ?? 0) + ms)
  const total = [...groups.values()].reduce((sum, ms) => sum + ms, 0)
  console.log('  where the time of Wakeful goes, without idle time')
  for (const [group, ms] of [...groups].sort((a, b) => b[1] - a[1]))
    console.log(`    ${group.padEnd(28)} ${percent(ms / total).padStart(4)}`)
  console.log('  functions that take the most')
  for (const { name, ms } of times.filter(({ group }) => group !== IDLE).slice(0, 20))
    console.log(`    ${name.padEnd(48)} ${percent(ms / total).padStart(4)}`)
}
