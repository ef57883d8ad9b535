/**
 * Random texts to the reader of recurrences: nothing but a WakefulError is thrown, and none takes over 50 ms.
 *
 *   node test/calendar/rrule-fuzz.ts [texts=100000] [seed]
 */
import { Random } from '../chaos/random.ts'
import { fuzzOne, randomText } from './rrule-fuzz-texts.ts'

const texts = Number(process.argv[2] ?? 100_000)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
const LIMIT_MS = 50
console.log(`${texts} random texts, seed ${seed}`)

const started = performance.now()
let [understood, slow, retried, slowest] = [0, 0, 0, 0]
for (let index = 0; index < texts; index++) {
  const own = (seed + index) % 2 ** 32
  const random = new Random(own)
  const text = randomText(random)
  let result = fuzzOne(text, random)
  // A pause of the machine is not the text's fault: it is slow if it is so again, uncached, three times more.
  for (let again = 1; result.ms > LIMIT_MS && again <= 3; again++) {
    retried++
    const once = fuzzOne(text + '\n'.repeat(again), random)
    if (once.ms < result.ms) result = once
  }
  if (result.understood) understood++
  slowest = Math.max(slowest, result.ms)
  if (result.ms > LIMIT_MS) {
    slow++
    console.log(`SLOW seed ${own}: ${result.ms.toFixed(0)} ms\n${text.slice(0, 2000)}\n`)
  }
  if ((index + 1) % Math.ceil(texts / 10) === 0) {
    console.log(`${index + 1} texts, ${((performance.now() - started) / 1000).toFixed(0)} s`)
  }
}
console.log(
  `${texts} texts, ${understood} understood; slowest ${slowest.toFixed(1)} ms (${retried} timed again)`,
)
console.log(`0 crashes, ${slow} over ${LIMIT_MS} ms`)
process.exitCode = slow === 0 ? 0 : 1
