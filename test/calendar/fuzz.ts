/**
 * Random inputs for every parser: none throws anything but a WakefulError or takes over 50 ms of processor time, and
 * accepted inputs give existing instants, sorted, and the same again.
 *
 *   node test/calendar/fuzz.ts [--count 100000] [--seed N] [--parser cron]
 */
import { parseArgs } from 'node:util'
import { type Fuzzed, fuzz, LIMIT_MS } from './fuzz/run.ts'
import { SUBJECTS } from './fuzz/subjects.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    parser: { type: 'string' },
  },
})
const [count, seed] = [Number(values.count), Number(values.seed)]
const chosen = SUBJECTS.filter(({ name }) => values.parser === undefined || name === values.parser)
if (chosen.length === 0) throw new Error(`--parser is one of ${SUBJECTS.map(({ name }) => name).join(', ')}`)

console.log(`${count.toLocaleString('en-US')} inputs to each parser, seed ${seed}\n`)
console.log('parser             accepted   refused   slowest          time')
let faults = 0
for (const subject of chosen) {
  const started = performance.now()
  const found = fuzz(subject, count, seed)
  faults += found.faults.length
  console.log(row(found, performance.now() - started))
  for (const fault of found.faults) console.log(`\n${found.name}, ${fault}\n`)
}
console.log(`\n${faults} faults; the limit is ${LIMIT_MS} ms of processor time`)
process.exitCode = faults === 0 ? 0 : 1

function row(found: Fuzzed, elapsedMs: number): string {
  const slowest = `${found.slowestMs.toFixed(1)} ms`.padStart(9)
  return [
    found.name.padEnd(17),
    found.accepted.toLocaleString('en-US').padStart(9),
    found.refused.toLocaleString('en-US').padStart(9),
    slowest,
    `(seed ${found.slowestSeed}${found.retried > 0 ? `, ${found.retried} timed again` : ''})`,
    `${(elapsedMs / 1000).toFixed(0)} s`,
  ].join(' ')
}
