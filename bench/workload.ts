import type { Wakeful } from '../src/index.ts'
import { type Lateness, perSecond, quantile } from './statistics.ts'

export const CALLERS = 64
export const BATCH = 1000
/** A payload of about 100 bytes, as the peers were measured with. */
export const PAYLOAD = { tenant: 't1', kind: 'reminder', note: 'x'.repeat(60) }
export const OPTIONS = { target: 'noop', payload: PAYLOAD }
export const FAR = { delay: '3650d' }
/** Due long ago. All have the same instant, so the due order is the order of creation. */
export const PAST = { unix: 1_700_000_000 }

/**
 * Sets one alarm that stays pending and one that fires. These are the first rows of every table, and the raw loops copy
 * them, so that they write the same rows as Wakeful does.
 */
export async function writeModelRows(wakeful: Wakeful): Promise<void> {
  await wakeful.set(FAR, OPTIONS)
  await wakeful.set(PAST, OPTIONS)
  await drain(wakeful, 1)
}

/** Sets alarms of another handler that are due in ten years. */
export async function setPending(
  wakeful: Wakeful,
  count: number,
  onProgress: (done: number) => void,
): Promise<void> {
  const from = Date.now() + 10 * 365 * 86_400_000
  let done = 0
  for (const size of batches(count)) {
    const items = Array.from({ length: size }, (_, index) => ({
      when: new Date(from + done + index),
      target: 'later',
      payload: PAYLOAD,
    }))
    await wakeful.setMany(items)
    done += size
    onProgress(done)
  }
}

/** One caller that awaits each set before the next. */
export async function setAlone(wakeful: Wakeful, count: number): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < count; i++) await wakeful.set(FAR, OPTIONS)
  return perSecond(count, startedAt)
}

/** 64 callers at the same time, each of which awaits its own sets. */
export async function setBy64(wakeful: Wakeful, count: number): Promise<number> {
  const startedAt = performance.now()
  await by64Callers(count, () => wakeful.set(FAR, OPTIONS))
  return perSecond(count, startedAt)
}

/** Makes this many calls, 64 at a time. */
export async function by64Callers(count: number, call: () => Promise<unknown>): Promise<void> {
  let left = count
  const caller = async () => {
    while (left > 0) {
      left -= 1
      await call()
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

/** Sets a thousand at a time. */
export async function setMany(
  wakeful: Wakeful,
  count: number,
  when: { delay: string } | { unix: number },
): Promise<number> {
  const startedAt = performance.now()
  for (const size of batches(count))
    await wakeful.setMany(Array.from({ length: size }, () => ({ when, ...OPTIONS })))
  return perSecond(count, startedAt)
}

/** Fires what is due: from `start` until the last alarm is settled. */
export async function drain(wakeful: Wakeful, count: number): Promise<number> {
  const { pending } = await wakeful.stats()
  wakeful.handle('noop', () => {})
  const startedAt = performance.now()
  await wakeful.start()
  while ((await wakeful.stats()).pending > pending - count)
    await new Promise((resolve) => setTimeout(resolve, 2))
  return perSecond(count, startedAt)
}

const LEAD_MS = 1000

/** How late alarms are that come due one after the other. */
export async function lateness(wakeful: Wakeful, count: number, overMs: number): Promise<Lateness> {
  const late: number[] = []
  const all = Promise.withResolvers<void>()
  const offset = wallClockOffset()
  wakeful.handle('late', (fire) => {
    late.push(offset + performance.now() - fire.occurrence.scheduledFor.getTime())
    if (late.length === count) all.resolve()
  })
  await wakeful.start()
  const from = Date.now() + LEAD_MS
  const instants = Array.from({ length: count }, (_, n) => new Date(from + Math.floor((n * overMs) / count)))
  for (const size of batches(count, 500))
    await wakeful.setMany(instants.splice(0, size).map((when) => ({ when, target: 'late' })))
  await all.promise
  late.sort((a, b) => a - b)
  return {
    p50: quantile(late, 0.5),
    p99: quantile(late, 0.99),
    max: late.at(-1)!,
    early: late.filter((ms) => ms < -0.5).length,
  }
}

/**
 * The wall clock minus the monotonic clock, read when the wall clock ticks. `performance.timeOrigin` is from the start of
 * the process: the two clocks have drifted apart by about a millisecond since, which is as much as is measured.
 */
export function wallClockOffset(): number {
  const before = Date.now()
  let now = before
  while (now === before) now = Date.now()
  return now - performance.now()
}

/** The sizes of the batches that make up a total. */
export function* batches(total: number, size = BATCH): Generator<number> {
  for (let left = total; left > 0; left -= size) yield Math.min(size, left)
}
