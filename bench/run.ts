import { cpus, tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { median } from './bed.ts'
import { type Figure, measure, type Round, type Sizes } from './measures.ts'
import { Report } from './report.ts'

/** `npm run bench`: rounds on an empty file and beside a million pending alarms; medians and ratios, never one run. */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    pending: { type: 'string', default: '1000000' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(`npm run bench -- [--rounds 3] [--pending 1000000] [--quick]

  --rounds N   how often everything is measured; medians are told (3)
  --pending N  how many alarms wait in the file in the second half (1000000)
  --quick      small sizes, on an empty file only: a first look, not a figure to quote`)
  process.exit(0)
}
const pending = Number(values.pending)
const report = new Report()
console.error(
  values.quick
    ? 'about 20 seconds; Ctrl-C ends it and leaves nothing behind'
    : `about 5 minutes as it stands (3 rounds, 1,000,000 pending alarms);
up to 1 GB in ${tmpdir()}, removed at the end and by Ctrl-C`,
)
const sizes: Sizes = values.quick
  ? { alone: 300, by64: 3_200, many: 5_000, drain: 10_000, late: 200, lateOverMs: 4_000, pending: 0 }
  : { alone: 2_000, by64: 32_000, many: 50_000, drain: 50_000, late: 1_000, lateOverMs: 20_000, pending: 0 }

const empty = await rounds('empty file', sizes)
const full = values.quick ? null : await rounds(`${thousands(pending)} pending`, { ...sizes, pending })

console.log(
  `\nnode ${process.version}, SQLite in WAL mode with synchronous=FULL, ${cpus().length} cores; medians of ${values.rounds} rounds;`,
)
console.log(
  'due order = creation order, no-op handler, payload of 100 bytes; raw = the same statements in a bare loop, same run\n',
)
print('empty file', empty)
if (full !== null) {
  print(`${thousands(pending)} pending`, full)
  console.log('\nbeside the empty file')
  for (const name of ['setAlone', 'setBy64', 'setMany', 'drain'] as const) {
    console.log(`  ${name.padEnd(10)} ×${(rate(full, name) / rate(empty, name)).toFixed(2)}`)
  }
}

async function rounds(name: string, each: Sizes): Promise<Round[]> {
  const done: Round[] = []
  for (let i = 1; i <= Number(values.rounds); i++) {
    done.push(await measure(each, (phase, detail) => report.say(`${name}, round ${i}: ${phase}`, detail)))
  }
  report.end()
  return done
}

function print(name: string, measured: readonly Round[]): void {
  console.log(name)
  for (const key of ['setAlone', 'setBy64', 'setMany', 'drain'] as const) {
    const raw = median(measured.map((round) => round[key].raw))
    const share = median(measured.map((round) => ratio(round[key])))
    console.log(
      `  ${key.padEnd(10)} ${whole(rate(measured, key))}/s   raw ${whole(raw)}/s   ${(share * 100).toFixed(0)}% of raw`,
    )
  }
  const gain = median(measured.map((round) => round.setBy64.wakeful / round.setAlone.wakeful))
  console.log(`  64 callers are ×${gain.toFixed(1)} the sequential rate`)
  const late = (key: 'p50' | 'p99' | 'max') => median(measured.map((round) => round.lateness[key])).toFixed(2)
  const early = measured.reduce((sum, round) => sum + round.lateness.early, 0)
  console.log(
    `  lateness   p50 ${late('p50')} ms   p99 ${late('p99')} ms   max ${late('max')} ms   early ${early}`,
  )
}

function rate(measured: readonly Round[], key: 'setAlone' | 'setBy64' | 'setMany' | 'drain'): number {
  return median(measured.map((round) => round[key].wakeful))
}

function ratio(figure: Figure): number {
  return figure.wakeful / figure.raw
}

function whole(value: number): string {
  return thousands(Math.round(value)).padStart(8)
}

function thousands(value: number): string {
  return value.toLocaleString('en-US')
}
