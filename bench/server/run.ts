/** `npm run bench:server`: sets over HTTP, webhooks to a local sink, and the API while many alarms come due. */
import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { readCommandLine } from '../command-line.ts'
import { formatWhole, median } from '../statistics.ts'
import { inTemporaryFolder } from '../temporary-store.ts'
import { measureRound, type Round } from './measure.ts'

const { form, numbers, texts } = readCommandLine({
  script: 'bench:server',
  summary:
    'Measures sets over HTTP, compared with the bare framework; webhooks to a local sink; and the API during a burst of alarms.',
  duration: 'about 5 minutes',
  numbers: {
    rounds: {
      description: 'how often everything is measured; the medians are printed',
      min: 1,
      full: 3,
      quick: 1,
      smoke: 1,
    },
    wakes: {
      description: 'how many alarms come due at one instant',
      min: 1,
      full: 20_000,
      quick: 2_000,
      smoke: 200,
    },
  },
  texts: { store: 'the store of the service, such as postgres://… (default: a temporary SQLite file)' },
  quick: '40 seconds: small sizes, one round. A first look, not figures to quote',
})
const { rounds, wakes } = numbers
const sizes = {
  wakes,
  loadTurns: form === 'smoke' ? 1 : 2,
  loadSeconds: { full: 8, quick: 2, smoke: 0.3 }[form],
  leadMs: form === 'smoke' ? 500 : 5_000,
  burstSeconds: form === 'smoke' ? 0.5 : Math.max(4, wakes / 2_500),
}

const measured = await inTemporaryFolder(async (folder) => {
  const done: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`)
    const ofRound = join(folder, String(round))
    mkdirSync(ofRound)
    done.push(await measureRound(ofRound, sizes, texts.store))
  }
  return done
})
print(measured)

function print(all: readonly Round[]): void {
  const of = (value: (round: Round) => number) => median(all.map(value))
  const whole = (value: (round: Round) => number) => formatWhole(of(value)).padStart(8)
  const ofFramework = of((round) => round.sets / round.framework).toFixed(2)
  const ofRows = of((round) => round.sets / round.frameworkAndRows).toFixed(2)
  const latency = (key: 'p50' | 'p99' | 'max', digits: number) =>
    `${key} ${of((round) => round[key]).toFixed(digits)}`
  console.log(`
node ${process.version}, ${cpus().length} cores; server, sink and load generator are processes of their own; medians, rounds: ${rounds};
in parentheses: Wakeful's rate divided by this one

                                          Wakeful   bare framework     framework + raw rows
POST /v1/alarms, 64 connections, per s   ${whole((r) => r.sets)}   ${whole((r) => r.framework)} (${ofFramework})   ${whole((r) => r.frameworkAndRows)} (${ofRows})
webhooks per second to a local sink      ${whole((r) => r.wakes)}   (${formatWhole(wakes)} due at one instant)
the same while the API is called         ${whole((r) => r.wakesDuringCalls)}
latency of the API meanwhile, ms         ${latency('p50', 1)}, ${latency('p99', 1)}, ${latency('max', 0)}`)
}
