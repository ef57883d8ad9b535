import type { Wakeful } from '../../src/index.ts'
import { perSecond, quantile } from '../bed.ts'
import { CALLERS, OPTIONS } from '../measures.ts'

/** What 64 cancelling callers reach, and what the clock beside them keeps up. */
export interface Cancels {
  readonly perSecond: number
  /** Fires a second, of the 300 that were due. */
  readonly ticks: number
  /** How late those were, 99 of 100. */
  readonly p99: number
}

const TICKS_PER_SECOND = 300
const LEAD_MS = 1_500
const OVER_MS = 3_000

/**
 * 64 callers cancel one alarm each, again and again, while 300 alarms a second come due in the same process. `delay` says
 * how far off the cancelled ones are: near its instant a cancel has to keep the take out (hazard 1).
 */
export async function cancels(wakeful: Wakeful, count: number, delay: string): Promise<Cancels> {
  const late: number[] = []
  wakeful.handle('tick', (fire) => {
    late.push(performance.timeOrigin + performance.now() - fire.occurrence.scheduledFor.getTime())
  })
  await wakeful.start()
  const ids: string[] = []
  for (let done = 0; done < count; done += 1000) {
    const answers = await wakeful.setMany(
      Array.from({ length: 1000 }, () => ({ when: { delay }, ...OPTIONS })),
    )
    ids.push(...answers.map(({ id }) => id))
  }
  const from = Date.now() + LEAD_MS
  const ticks = (TICKS_PER_SECOND * OVER_MS) / 1000
  await wakeful.setMany(
    Array.from({ length: ticks }, (_, n) => ({
      when: new Date(from + Math.floor((n * OVER_MS) / ticks)),
      target: 'tick',
    })),
  )
  await new Promise((resolve) => setTimeout(resolve, Math.max(1, from - Date.now())))
  const [startedAt, end] = [performance.now(), performance.now() + OVER_MS]
  let cancelled = 0
  const caller = async () => {
    for (let id = ids.pop(); id !== undefined && performance.now() < end; id = ids.pop()) {
      await wakeful.cancel(id)
      cancelled += 1
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const rate = perSecond(cancelled, startedAt)
  await new Promise((resolve) => setTimeout(resolve, Math.max(1, end - performance.now())))
  const kept = late.length / ((performance.now() - startedAt) / 1000)
  while (late.length < ticks) await new Promise((resolve) => setTimeout(resolve, 5))
  // What was not cancelled must not come due in another measurement.
  for (let rest = ids.splice(0, 500); rest.length > 0; rest = ids.splice(0, 500))
    await wakeful.cancelMany(rest)
  late.sort((a, b) => a - b)
  return { perSecond: rate, ticks: kept, p99: quantile(late, 0.99) }
}
