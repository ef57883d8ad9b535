/** `npm run bench`: Wakeful on SQLite compared with its raw loop, on an empty file and with a million alarms pending. */
import { cpus, tmpdir } from 'node:os'
import { readCommandLine } from '../command-line.ts'
import { ProgressLine } from '../progress-line.ts'
import { formatLateness, formatWhole, median } from '../statistics.ts'
import { measureRound, RATES, type Rate, type Round, type Sizes } from './measure.ts'

const { form, numbers } = readCommandLine({
  script: 'bench',
  summary: 'Measures set, drain and lateness on SQLite, compared with the same statements in a bare loop.',
  duration: `about 5 minutes and up to 1 GB in ${tmpdir()}, which is removed at the end`,
  numbers: {
    rounds: {
      description: 'how often everything is measured; the medians are printed',
      min: 1,
      full: 3,
      smoke: 1,
    },
    pending: {
      description: 'how many alarms are pending in the second half; 0 skips that half',
      min: 0,
      full: 1_000_000,
      quick: 0,
      smoke: 2_000,
    },
  },
  quick: '20 seconds: small sizes on an empty file. A first look, not figures to quote',
})
const SIZES: Readonly<Record<typeof form, Omit<Sizes, 'pending'>>> = {
  full: { setAlone: 2_000, setBy64: 32_000, setMany: 50_000, drain: 50_000, late: 1_000, lateOverMs: 20_000 },
  quick: { setAlone: 300, setBy64: 3_200, setMany: 5_000, drain: 10_000, late: 200, lateOverMs: 4_000 },
  smoke: { setAlone: 20, setBy64: 256, setMany: 1_500, drain: 1_500, late: 50, lateOverMs: 500 },
}
const { rounds, pending } = numbers
const progress = new ProgressLine()

const empty = await measureRounds('empty file', 0)
const full = pending === 0 ? null : await measureRounds(`${formatWhole(pending)} pending`, pending)

console.log(`
node ${process.version}, SQLite in WAL mode with synchronous=FULL, ${cpus().length} cores; medians, rounds: ${rounds};
due order = creation order, no-op handler, payload of 100 bytes; raw = the same statements in a bare loop, same run
`)
print('empty file', empty)
if (full !== null) {
  print(`${formatWhole(pending)} pending`, full)
  console.log('\ncompared with the empty file')
  for (const rate of RATES)
    console.log(`  ${rate.padEnd(10)} ×${(medianRate(full, rate) / medianRate(empty, rate)).toFixed(2)}`)
}

async function measureRounds(title: string, count: number): Promise<Round[]> {
  const done: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const onProgress = (phase: string, detail?: string) =>
      progress.show(`${title}, round ${round}: ${phase}`, detail)
    done.push(await measureRound({ ...SIZES[form], pending: count }, onProgress))
  }
  progress.clear()
  return done
}

function print(title: string, measured: readonly Round[]): void {
  console.log(title)
  const whole = (value: number) => formatWhole(value).padStart(8)
  for (const rate of RATES) {
    const raw = median(measured.map((round) => round[rate].raw))
    const share = median(measured.map((round) => round[rate].wakeful / round[rate].raw))
    console.log(
      `  ${rate.padEnd(10)} ${whole(medianRate(measured, rate))}/s   raw ${whole(raw)}/s   ${(share * 100).toFixed(0)}% of raw`,
    )
  }
  const gain = median(measured.map((round) => round.setBy64.wakeful / round.setAlone.wakeful))
  console.log(`  64 callers are ×${gain.toFixed(1)} the rate of one`)
  console.log(`  lateness   ${formatLateness(measured.map((round) => round.lateness))}`)
}

function medianRate(measured: readonly Round[], rate: Rate): number {
  return median(measured.map((round) => round[rate].wakeful))
}
