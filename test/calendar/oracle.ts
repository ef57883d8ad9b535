/**
 * Every zone, every clock change 2000–2037, every policy: `node test/calendar/oracle.ts [zone…]`.
 * The expected instants come from the zone files alone, by testing every minute, without any code of src/time.
 */
import { compareZone, EXPRESSIONS, newTally, YEAR_FIRST, YEAR_LAST } from './compare.ts'
import { POLICIES } from './expected.ts'
import { readZone, zoneFilesVersion, zoneNames } from './tzif.ts'

const started = performance.now()
console.log(`zone data: files ${zoneFilesVersion()}, runtime ${process.versions.tz}`)
const names = process.argv.length > 2 ? process.argv.slice(2) : zoneNames()
const known = names.filter(isKnown)
const unknown = names.filter((name) => !isKnown(name))
const tally = newTally()
for (const [index, name] of known.entries()) {
  compareZone(readZone(name, YEAR_LAST), tally)
  if (index % 25 !== 24) continue
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(
    `${index + 1}/${known.length} zones, ${tally.transitions} changes, ${tally.mismatches.length} mismatches, ${seconds} s`,
  )
}
console.log(
  `${tally.zones} zones, ${tally.transitions} changes ${YEAR_FIRST}–${YEAR_LAST}, ${EXPRESSIONS.length + 1} expressions × ${POLICIES.length} policies: ` +
    `${tally.walks} walks, ${tally.instants} instants, ${tally.mismatches.length} mismatches`,
)
console.log(
  `skipped, because the two versions differ there: ${tally.skipped.length} changes in ${new Set(tally.skipped.map((text) => text.split(' ')[0])).size} zones`,
)
for (const text of tally.skipped) console.log(`  ${text}`)
if (unknown.length > 0) console.log(`unknown to the runtime: ${unknown.join(', ')}`)
for (const text of tally.mismatches.slice(0, 50)) console.error(text)
if (tally.mismatches.length > 0) process.exitCode = 1

function isKnown(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
