/**
 * `npm run bench:recurring`: how fast recurring alarms that share three hundred rules are drained, beside the store's
 * raw loop on the same rows.
 */
import { parseArgs } from 'node:util'
import { median, type Pace } from './bed.ts'
import { measureRecurring } from './drain-recurring.ts'
import type { Spent } from './profile.ts'
import { Report } from './report.ts'
import { RULES } from './rules.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '5' },
    profile: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(`npm run bench:recurring -- [--rows 50000] [--rounds 5] [--profile]

  --rows N     how many recurring alarms are due (50000); a million takes 3 GB in the temporary folder, for a while
  --rounds N   how often both are measured, in turns; medians are told (5)
  --profile    also tells where the engine's time goes`)
  process.exit(0)
}
const [rows, rounds] = [Number(values.rows), Number(values.rounds)]
const NAMES = [
  ['raw', 'raw'],
  ['timed', 'raw with time math'],
  ['wakeful', 'Wakeful'],
] as const
const report = new Report()
const whole = (value: number) => Math.round(value).toLocaleString('en-US')

console.log(
  `${whole(rows)} recurring alarms of ${RULES.length} rules, each drained once; medians of ${rounds} rounds\n`,
)
for (const variant of ['event', 'handler'] as const) {
  const { figures, spent } = await measureRecurring(
    variant,
    { rows, rounds, profile: values.profile },
    (phase, detail) => report.say(`${variant}: ${phase}`, detail),
  )
  report.end()
  console.log(variant)
  for (const [name, words] of NAMES) {
    const ratios = figures.map((figure) => figure[name].perSecond / figure.raw.perSecond)
    const cpuRatio = median(figures.map((figure) => figure.raw.cpuUs / figure[name].cpuUs))
    const of = (key: keyof Pace) => median(figures.map((figure) => figure[name][key]))
    const [least, most] = [percent(Math.min(...ratios)), percent(Math.max(...ratios))]
    console.log(
      `  ${words.padEnd(22)} ${whole(of('perSecond')).padStart(8)}/s  ${percent(median(ratios)).padStart(4)} of raw (${least} to ${most});` +
        `  ${of('cpuUs').toFixed(1).padStart(5)} µs of processor each, ${percent(cpuRatio).padStart(4)} of raw`,
    )
  }
  if (spent !== null) tell(spent)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`
}

/** The rooms in which the time was spent, and the functions in which most of it was. */
function tell(spent: readonly Spent[]): void {
  const total = spent.reduce((sum, { room, ms }) => sum + (room === '(idle)' ? 0 : ms), 0)
  const rooms = new Map<string, number>()
  for (const { room, ms } of spent) rooms.set(room, (rooms.get(room) ?? 0) + ms)
  console.log('  where the time went, idle left out')
  for (const [room, ms] of [...rooms].sort((a, b) => b[1] - a[1]))
    if (room !== '(idle)') console.log(`    ${room.padEnd(28)} ${percent(ms / total).padStart(4)}`)
  console.log('  most of it in')
  for (const { name, ms } of spent.slice(0, 20))
    console.log(`    ${name.padEnd(48)} ${percent(ms / total).padStart(4)}`)
}
