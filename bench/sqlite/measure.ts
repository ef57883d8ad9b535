import { join } from 'node:path'
import { formatWhole, type Lateness } from '../statistics.ts'
import { inTemporaryFolder, withWakeful } from '../temporary-store.ts'
import {
  BATCH,
  CALLERS,
  drain,
  FAR,
  lateness,
  PAST,
  setAlone,
  setBy64,
  setMany,
  setPending,
  writeModelRows,
} from '../workload.ts'
import { Raw } from './raw.ts'

/** The rates that are measured, each next to the raw limit of the same rows. */
export const RATES = ['setAlone', 'setBy64', 'setMany', 'drain'] as const
export type Rate = (typeof RATES)[number]

/** A rate and its raw limit, both taken in the same round. */
export interface Figure {
  readonly wakeful: number
  readonly raw: number
}

/** What one round measures. */
export interface Round extends Readonly<Record<Rate, Figure>> {
  readonly lateness: Lateness
}

/** How much of each is done. */
export interface Sizes {
  readonly setAlone: number
  readonly setBy64: number
  readonly setMany: number
  readonly drain: number
  readonly late: number
  readonly lateOverMs: number
  readonly pending: number
}

/** Runs every measurement once, on a file with this many pending alarms. */
export function measureRound(
  sizes: Sizes,
  onProgress: (phase: string, detail?: string) => void,
): Promise<Round> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, 'bench.db')
    await withWakeful(path, writeModelRows)
    await withWakeful(path, (wakeful) =>
      setPending(wakeful, sizes.pending, (done) =>
        onProgress('filling the file', `${formatWhole(done)} alarms`),
      ),
    )
    onProgress('setAlone')
    const alone = await withWakeful(path, (wakeful) => setAlone(wakeful, sizes.setAlone))
    const rawAlone = withRaw(path, (raw) => raw.insert(sizes.setAlone, 1))
    onProgress('setBy64')
    const by64 = await withWakeful(path, (wakeful) => setBy64(wakeful, sizes.setBy64))
    const rawBy64 = withRaw(path, (raw) => raw.insert(sizes.setBy64, CALLERS))
    onProgress('setMany')
    const many = await withWakeful(path, (wakeful) => setMany(wakeful, sizes.setMany, FAR))
    const rawMany = withRaw(path, (raw) => raw.insert(sizes.setMany, BATCH))
    onProgress('drain')
    await withWakeful(path, (wakeful) => setMany(wakeful, sizes.drain, PAST))
    const rawDrain = withRaw(path, (raw) => raw.readAndSettle(sizes.drain))
    await withWakeful(path, (wakeful) => setMany(wakeful, sizes.drain, PAST))
    const drained = await withWakeful(path, (wakeful) => drain(wakeful, sizes.drain))
    onProgress('lateness')
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

function withRaw<T>(path: string, work: (raw: Raw) => T): T {
  const raw = new Raw(path)
  try {
    return work(raw)
  } finally {
    raw.close()
  }
}
