/** `npm run bench:postgres`: Wakeful on PostgreSQL compared with its raw loop, graphile-worker and pg-boss. */
import { cpus, loadavg } from 'node:os'
import { readCommandLine } from '../command-line.ts'
import { ProgressLine } from '../progress-line.ts'
import { formatWhole } from '../statistics.ts'
import { measureRounds, type Round, type Sizes } from './measure.ts'
import { print, printTargets } from './print.ts'
import { withServer } from './server.ts'

const { form, numbers } = readCommandLine({
  script: 'bench:postgres',
  summary:
    'Measures Wakeful on a PostgreSQL server that it starts, compared with the same statements in a bare loop, graphile-worker and pg-boss.',
  duration: 'about 4 minutes; a million pending alarms take longer, and 2 GB in the temporary folder',
  numbers: {
    rows: {
      description: 'how many alarms are drained, set with setMany and cancelled at a time',
      min: 1,
      full: 30_000,
      smoke: 500,
    },
    rounds: {
      description: 'how often everything is measured; the medians are printed',
      min: 1,
      full: 3,
      smoke: 1,
    },
    pending: {
      description: 'measures all but the peers again with so many pending alarms',
      min: 0,
      full: 0,
      smoke: 2_000,
    },
  },
})
const { rows, rounds, pending } = numbers
const sizes: Sizes = {
  rows,
  pending: 0,
  ...(form === 'smoke'
    ? { alone: 20, by64: 128, by64OfPeers: 64, late: 50, lateOverMs: 500, cancelOverMs: 300 }
    : {
        alone: 500,
        by64: 6_400,
        by64OfPeers: 640,
        late: 1_000,
        lateOverMs: 20_000,
        cancelOverMs: 3_000,
      }),
}
const progress = new ProgressLine()
const loadBefore = loadavg()[0]!
const pendingTitle = `${formatWhole(pending)} pending`

const { empty, full } = await withServer(async (server) => {
  const measure = (title: string, each: Sizes): Promise<Round[]> =>
    measureRounds(server, rounds, each, (phase) => progress.show(`${title}, ${phase}`))
  return {
    empty: await measure('empty tables', sizes),
    full: pending === 0 ? null : await measure(pendingTitle, { ...sizes, pending }),
  }
})
progress.clear()

console.log(
  `node ${process.version}, its own PostgreSQL server with fsync and synchronous_commit on, ${cpus().length} cores shared with it;
load ${loadBefore.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after; medians, rounds: ${rounds}; due order = creation order, all at one instant,
no-op handler, payload of 100 bytes; raw = the same statements in a bare loop; µs = processor time each, client + server\n`,
)
print('empty tables', empty)
if (full !== null) print(pendingTitle, full)
printTargets(empty, full)
