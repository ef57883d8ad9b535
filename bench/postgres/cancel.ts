import type { Wakeful } from '../../src/index.ts'
import { perSecond, quantile } from '../statistics.ts'
import { batches, CALLERS, OPTIONS, wallClockOffset } from '../workload.ts'

/** How fast 64 callers cancel, and how well the process fires meanwhile. */
export interface CancelFigures {
  readonly perSecond: number
  /** Fires per second, of the 300 that come due. */
  readonly firesPerSecond: number
  /** How late 99 of 100 fires were at most, in milliseconds. */
  readonly p99: number
}

export const DUE_PER_SECOND = 300

/** How much is done, and how far away the cancelled alarms are. */
export interface CancelSizes {
  readonly count: number
  readonly overMs: number
  readonly delay: string
}

/**
 * 64 callers cancel one alarm after the other while 300 alarms per second come due in the same process. `delay` says how
 * far away the cancelled alarms are: a cancel that comes close to the instant must first keep the alarm from being
 * claimed, which costs more.
 */
export async function measureCancels(wakeful: Wakeful, sizes: CancelSizes): Promise<CancelFigures> {
  const { count, overMs, delay } = sizes
  const late: number[] = []
  const offset = wallClockOffset()
  wakeful.handle('tick', (fire) => {
    late.push(offset + performance.now() - fire.occurrence.scheduledFor.getTime())
  })
  await wakeful.start()
  const ids: string[] = []
  for (const size of batches(count)) {
    const set = await wakeful.setMany(Array.from({ length: size }, () => ({ when: { delay }, ...OPTIONS })))
    ids.push(...set.map(({ id }) => id))
  }
  // Long enough to set the alarms that come due.
  const from = Date.now() + overMs / 2
  const due = Math.ceil((DUE_PER_SECOND * overMs) / 1000)
  await wakeful.setMany(
    Array.from({ length: due }, (_, n) => ({
      when: new Date(from + Math.floor((n * overMs) / due)),
      target: 'tick',
    })),
  )
  await sleep(from - Date.now())
  const startedAt = performance.now()
  const end = startedAt + overMs
  let cancelled = 0
  const caller = async () => {
    for (let id = ids.pop(); id !== undefined && performance.now() < end; id = ids.pop()) {
      await wakeful.cancel(id)
      cancelled += 1
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const rate = perSecond(cancelled, startedAt)
  await sleep(end - performance.now())
  const firesPerSecond = perSecond(late.length, startedAt)
  while (late.length < due) await sleep(5)
  // The rest must not come due during another measurement.
  for (let rest = ids.splice(0, 500); rest.length > 0; rest = ids.splice(0, 500))
    await wakeful.cancelMany(rest)
  late.sort((a, b) => a - b)
  return { perSecond: rate, firesPerSecond, p99: quantile(late, 0.99) }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(1, ms)))
}
