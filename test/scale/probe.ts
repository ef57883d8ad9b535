import { open } from '../../src/index.ts'
import { cpuMs } from '../cpu-time.ts'

/** What a process on a store measured. */
export interface Probe {
  /** Processor time. */
  readonly openMs: number
  readonly startMs: number
  readonly rssMb: number
  /** The lateness of its alarms, sorted. */
  readonly lateMs: readonly number[]
}

const ALARMS = 50
const EVERY_MS = 40

/**
 * A separate process, so that its memory can be measured: it opens, starts, sets and fires some alarms, and reports.
 */
const [path = ''] = process.argv.slice(2)
const opening = cpuMs()
const wakeful = await open(path)
const openMs = cpuMs() - opening
const lateMs: number[] = []
const all = new Promise<void>((resolve) => {
  wakeful.handle('note', (fire) => {
    lateMs.push(Date.now() - fire.occurrence.scheduledFor.getTime())
    if (lateMs.length === ALARMS) resolve()
  })
})
const starting = performance.now()
await wakeful.start()
const startMs = performance.now() - starting
const from = Date.now() + 200
await Promise.all(
  Array.from({ length: ALARMS }, (_, i) => wakeful.set(new Date(from + i * EVERY_MS), { target: 'note' })),
)
await all
globalThis.gc?.()
const rssMb = process.memoryUsage().rss / 2 ** 20
await wakeful.close()
const probe: Probe = { openMs, startMs, rssMb, lateMs: lateMs.sort((a, b) => a - b) }
console.log(JSON.stringify(probe))
