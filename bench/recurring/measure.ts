import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open, type Wakeful } from '../../src/index.ts'
import type { Clock } from '../../src/time/index.ts'
import { formatWhole, startStopwatch, type Throughput } from '../statistics.ts'
import { inTemporaryFolder } from '../temporary-store.ts'
import { batches, PAYLOAD } from '../workload.ts'
import { type FunctionTime, profile } from './profile.ts'
import { drainRaw, readModels, shardOf, type Variant } from './raw.ts'
import { DUE_AT, RULES, SET_AT } from './rules.ts'

const POLL_MS = 5
const TARGETS = { event: { event: true }, handler: 'handler' } as const

/** A clock whose date does not advance by itself, so that a drained alarm is not due again however long the drain takes. */
function fixedClock(now: () => number): Clock {
  return {
    now,
    monotonic: () => performance.now(),
    setTimer(delayMs, fire) {
      const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), 2 ** 31 - 1))
      return () => clearTimeout(timer)
    },
    turn: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

/** The grace period covers the day, so that each alarm fires once and none is treated as missed. */
function openAt(path: string, now: () => number): Promise<Wakeful> {
  return open(`sqlite:${path}`, { clock: fixedClock(now), grace: '2d', timezone: 'UTC' })
}

/** Fills a file with recurring alarms. The clock advances by a millisecond per batch, so that their start times differ. */
async function fill(
  path: string,
  rows: number,
  variant: Variant,
  onProgress: (done: number) => void,
): Promise<void> {
  let now = SET_AT
  const wakeful = await openAt(path, () => now)
  const target = TARGETS[variant]
  let done = 0
  for (const size of batches(rows)) {
    const items = Array.from({ length: size }, (_, index) => ({
      when: RULES[(done + index) % RULES.length]!,
      target,
      payload: PAYLOAD,
    }))
    await wakeful.setMany(items)
    now += 1
    done += size
    onProgress(done)
  }
  // The first start checks every alarm once for changed time zone data. A file in use has been started before.
  await wakeful.start()
  await wakeful.close()
}

/** From `start` until no timer is due: each alarm has fired once and its timer is at its next instant. */
async function drain(path: string, rows: number, variant: Variant): Promise<Throughput> {
  const wakeful = await openAt(path, () => DUE_AT)
  let handled = 0
  wakeful.handle('handler', () => {
    handled += 1
  })
  const reader = new DatabaseSync(path, { readOnly: true })
  const due = reader.prepare('SELECT 1 FROM wakeful_timers WHERE shard = ? AND wake_at <= ? LIMIT 1')
  const shard = shardOf(reader, variant)
  const stop = startStopwatch()
  await wakeful.start()
  while (due.get(shard, DUE_AT) !== undefined) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  const measured = stop(rows)
  const events = reader.prepare('SELECT count(*) AS n FROM wakeful_events').get() as { n: number }
  reader.close()
  await wakeful.close()
  if (events.n !== rows || (variant === 'handler' && handled !== rows))
    throw new Error(`${events.n} events and ${handled} deliveries instead of ${rows}`)
  return measured
}

/** What is compared: Wakeful, the raw loop, and the raw loop that also computes the next instants. */
export const CONTENDERS = ['raw', 'rawWithInstants', 'wakeful'] as const
export type Contender = (typeof CONTENDERS)[number]
export type Round = Readonly<Record<Contender, Throughput>>

/** How much is done. */
export interface Sizes {
  readonly rows: number
  readonly rounds: number
  /** Whether Wakeful is run once more under the profiler. */
  readonly profile: boolean
}

/** The rounds of one variant, and where the time went if that was asked for. */
export interface Measured {
  readonly rounds: readonly Round[]
  readonly times: readonly FunctionTime[] | null
}

/** Measures all contenders in turn, each on a copy of the same file. */
export function measureVariant(
  variant: Variant,
  sizes: Sizes,
  onProgress: (phase: string, detail?: string) => void,
): Promise<Measured> {
  const { rows } = sizes
  return inTemporaryFolder(async (folder) => {
    const [filled, copied, model] = ['filled.db', 'copy.db', 'model.db'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    await fill(filled, rows, variant, (done) => onProgress('filling the file', `${formatWhole(done)} alarms`))
    await fill(model, 1, variant, () => {})
    await drain(model, 1, variant)
    const models = readModels(model)
    const copy = () => {
      copyFileSync(filled, copied)
      return copied
    }
    const run = (contender: Contender) =>
      contender === 'wakeful'
        ? drain(copy(), rows, variant)
        : drainRaw({
            path: copy(),
            variant,
            models,
            now: DUE_AT,
            computesInstants: contender === 'rawWithInstants',
          })
    const rounds: Round[] = []
    for (let round = 1; round <= sizes.rounds; round++) {
      onProgress(`round ${round}`)
      const measured: Partial<Record<Contender, Throughput>> = {}
      // Each is first in turn: the disk may be busier for those that come later.
      const first = round % CONTENDERS.length
      for (const contender of [...CONTENDERS.slice(first), ...CONTENDERS.slice(0, first)])
        measured[contender] = await run(contender)
      rounds.push(measured as Round)
    }
    if (!sizes.profile) return { rounds, times: null }
    onProgress('once more under the profiler')
    return { rounds, times: await profile(() => drain(copy(), rows, variant)) }
  })
}
