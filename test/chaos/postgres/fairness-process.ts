import { open } from '../../../src/index.ts'
import { CROWD, type Manner, TENANTS } from './fairness.ts'

const [url = '', perSecond = '30', seconds = '20', manner = 'hang'] = process.argv.slice(2)
const STEP_MS = 100
const AHEAD_MS = 1_000
/** The warm-up, before the loop has met the crowd, is not counted. */
const WARM_MS = 4_000
const DRAIN_MS_MAX = 20_000

/** What the crowd's handler does. */
const MANNERS: Readonly<Record<Manner, () => Promise<void>>> = {
  hang: () => new Promise(() => {}),
  fail: () => Promise.reject(new Error('refused')),
  slow: () => new Promise((resolve) => setTimeout(resolve, 50)),
}

/** A process with default settings: it sets and fires for its tenants, and reports the lateness of each alarm. */
const wakeful = await open(url, { drain: '0s' })
const countedFrom = Date.now() + WARM_MS
const lateMs: number[] = []
let fired = 0
let crowded = 0
wakeful.handle('tick', ({ occurrence }) => {
  const due = occurrence.scheduledFor.getTime()
  fired += 1
  if (due >= countedFrom) lateMs.push(Date.now() - due)
})
wakeful.handle(CROWD, () => {
  crowded += 1
  return MANNERS[manner as Manner]()
})
await wakeful.start()
const tenants = TENANTS.map((name) => wakeful.forTenant(name))
const startedAt = Date.now()
const stepsPerSecond = 1_000 / STEP_MS
let set = 0
for (let step = 0; step < (WARM_MS / 1_000 + Number(seconds)) * stepsPerSecond; step++) {
  // A machine that is too slow for this rate sets them later, and that is not counted as late.
  const from = Math.max(startedAt + step * STEP_MS, Date.now()) + AHEAD_MS
  const each =
    Math.round(((step + 1) * Number(perSecond)) / stepsPerSecond) -
    Math.round((step * Number(perSecond)) / stepsPerSecond)
  const sets = tenants.map((tenant, place) => {
    const when = (i: number) => new Date(from + Math.floor(((i + place / tenants.length) * STEP_MS) / each))
    return tenant.setMany(Array.from({ length: each }, (_, i) => ({ when: when(i), target: 'tick' })))
  })
  await Promise.all(sets)
  set += each * tenants.length
  await sleep(startedAt + (step + 1) * STEP_MS - Date.now())
}
// Another process may fire what was set here. This one ends when nothing fires any more.
const end = Date.now() + DRAIN_MS_MAX
for (let before = -1; fired > before && Date.now() < end; ) {
  before = fired
  await sleep(2 * AHEAD_MS)
}
process.stdout.write(`${JSON.stringify({ lateMs, set, fired, crowded })}\n`)
await wakeful.close()

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}
