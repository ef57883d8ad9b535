import type { Wakeful } from '../src/index.ts'
import { inFolder, PAYLOAD, perSecond, prefill, quantile, withWakeful } from './bed.ts'
import { Raw } from './raw.ts'

/** One figure beside the raw limit of the same rows, both taken in the same run. */
export interface Figure {
  readonly wakeful: number
  readonly raw: number
}

/** How late alarms were, in milliseconds. */
export interface Lateness {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly early: number
}

/** What one round measures. */
export interface Round {
  readonly setAlone: Figure
  readonly setBy64: Figure
  readonly setMany: Figure
  readonly drain: Figure
  readonly lateness: Lateness
}

/** How much of each is done. */
export interface Sizes {
  readonly alone: number
  readonly by64: number
  readonly many: number
  readonly drain: number
  readonly late: number
  readonly lateOverMs: number
  readonly pending: number
}

export const CALLERS = 64
export const FAR = { delay: '3650d' }
export const OPTIONS = { target: 'noop', payload: PAYLOAD }

/** Runs every measurement once, on a file with so many pending alarms beside. */
export function measure(sizes: Sizes, say: (phase: string, detail?: string) => void): Promise<Round> {
  return inFolder(async (path) => {
    if (sizes.pending > 0)
      await prefill(path, sizes.pending, (done) =>
        say('filling the file', `${done.toLocaleString('en-US')} alarms`),
      )
    await withWakeful(path, (wakeful) => wakeful.set(FAR, OPTIONS))
    say('set alone')
    const alone = await withWakeful(path, (wakeful) => setAlone(wakeful, sizes.alone))
    const rawAlone = withRaw(path, (raw) => raw.insert(sizes.alone, 1))
    say('set by 64 callers')
    const by64 = await withWakeful(path, (wakeful) => setBy64(wakeful, sizes.by64))
    const rawBy64 = withRaw(path, (raw) => raw.insert(sizes.by64, CALLERS))
    say('setMany')
    const many = await withWakeful(path, (wakeful) => setMany(wakeful, sizes.many, FAR))
    const rawMany = withRaw(path, (raw) => raw.insert(sizes.many, 1000))
    say('drain')
    await withWakeful(path, (wakeful) => setMany(wakeful, sizes.drain, PAST))
    const rawDrain = withRaw(path, (raw) => raw.readAndSettle(sizes.drain))
    await withWakeful(path, (wakeful) => setMany(wakeful, sizes.drain, PAST))
    const drained = await withWakeful(path, (wakeful) => drain(wakeful, sizes.drain))
    say('lateness')
    const late = await withWakeful(path, (wakeful) => lateness(wakeful, sizes.late, sizes.lateOverMs))
    return {
      setAlone: { wakeful: alone, raw: rawAlone },
      setBy64: { wakeful: by64, raw: rawBy64 },
      setMany: { wakeful: many, raw: rawMany },
      drain: { wakeful: drained, raw: rawDrain },
      lateness: late,
    }
  })
}

/** Due long ago, in the order of creation: hazard 13 asks to say which is measured. */
export const PAST = { unix: 1_700_000_000 }

function withRaw<T>(path: string, work: (raw: Raw) => T): T {
  const raw = new Raw(path)
  try {
    return work(raw)
  } finally {
    raw.close()
  }
}

export async function setAlone(wakeful: Wakeful, count: number): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < count; i++) await wakeful.set(FAR, OPTIONS)
  return perSecond(count, startedAt)
}

export async function setBy64(wakeful: Wakeful, count: number): Promise<number> {
  const startedAt = performance.now()
  const caller = async () => {
    for (let i = 0; i < count / CALLERS; i++) await wakeful.set(FAR, OPTIONS)
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return perSecond(count, startedAt)
}

export async function setMany(
  wakeful: Wakeful,
  count: number,
  when: { delay: string } | { unix: number },
): Promise<number> {
  const startedAt = performance.now()
  for (let done = 0; done < count; done += 1000) {
    await wakeful.setMany(Array.from({ length: 1000 }, () => ({ when, ...OPTIONS })))
  }
  return perSecond(count, startedAt)
}

/** From start to the last settle. */
export async function drain(wakeful: Wakeful, count: number): Promise<number> {
  const { pending } = await wakeful.stats()
  wakeful.handle('noop', () => {})
  const startedAt = performance.now()
  await wakeful.start()
  while ((await wakeful.stats()).pending > pending - count)
    await new Promise((resolve) => setTimeout(resolve, 2))
  return perSecond(count, startedAt)
}

export async function lateness(wakeful: Wakeful, count: number, overMs: number): Promise<Lateness> {
  const late: number[] = []
  const all = Promise.withResolvers<void>()
  const wallOffset = offsetOfWall()
  wakeful.handle('late', (fire) => {
    late.push(wallOffset + performance.now() - fire.occurrence.scheduledFor.getTime())
    if (late.length === count) all.resolve()
  })
  await wakeful.start()
  const from = Date.now() + 1000
  for (let i = 0; i < count; i += 500) {
    const chunk = Array.from({ length: Math.min(500, count - i) }, (_, j) => i + j)
    await wakeful.setMany(
      chunk.map((n) => ({ when: new Date(from + Math.floor((n * overMs) / count)), target: 'late' })),
    )
  }
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
 * The wall clock less the monotonic one, found at the instant at which the wall clock ticks. `performance.timeOrigin` is of
 * when the process began: the two have run apart by a millisecond since, which is as much as is measured.
 */
function offsetOfWall(): number {
  const before = Date.now()
  let now = before
  while (now === before) now = Date.now()
  return now - performance.now()
}
