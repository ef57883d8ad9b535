/**
 * Random RRULEs over 50 years against an enumeration that shares no code with the engine.
 *
 *   node test/calendar/rrule-oracle.ts [rules=10000] [seed]
 */
import { Random } from '../random.ts'
import { compareOne } from './rrule-compare.ts'

const rules = Number(process.argv[2] ?? 10_000)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
console.log(`${rules} random RRULEs over 50 years, seed ${seed}`)

const started = performance.now()
let [instances, refused, mismatches] = [0, 0, 0]
for (let index = 0; index < rules; index++) {
  // Each rule has its own seed, so that it can be repeated alone: rules=1 seed=<its seed>.
  const own = (seed + index) % 2 ** 32
  const result = compareOne(new Random(own))
  instances += result.instances
  if (result.refused) refused++
  if (result.mismatch !== null) {
    mismatches++
    console.log(`MISMATCH seed ${own}: ${result.mismatch}\n${result.text}\n`)
  }
  if ((index + 1) % Math.ceil(rules / 10) === 0) {
    const seconds = ((performance.now() - started) / 1000).toFixed(0)
    console.log(`${index + 1} rules, ${instances} instances, ${mismatches} mismatches, ${seconds} s`)
  }
}
console.log(`${rules} rules; of the ${refused} refused, the enumeration finds no instance in 50 years either`)
console.log(`${instances} instances, ${mismatches} mismatches`)
process.exitCode = mismatches === 0 ? 0 : 1
