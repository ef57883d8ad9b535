import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { open, type Wakeful } from '../src/index.ts'
import type { Clock } from '../src/time/index.ts'
import { inFolder, PAYLOAD, type Pace, pace } from './bed.ts'
import { profiled, type Spent } from './profile.ts'
import { drainRaw, shardOf, type Variant } from './raw-recurring.ts'
import { DUE_AT, RULES, SET_AT } from './rules.ts'

const CHUNK = 1000
const POLL_MS = 5
const TARGETS = { event: { event: true }, handler: 'handler' } as const

/** A clock whose date stands still, so that what was drained does not come due again however long it takes. */
function still(now: () => number): Clock {
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

/** Grace: what came due in the course of the day is on time, so that each fires once and nothing is caught up on. */
function openAt(path: string, now: () => number): Promise<Wakeful> {
  return open(`sqlite:${path}`, { clock: still(now), grace: '2d', timezone: 'UTC' })
}

/** Fills a file with recurring alarms. The clock moves on by a millisecond per call: each has its own anchor. */
async function fill(
  path: string,
  rows: number,
  variant: Variant,
  say: (done: number) => void,
): Promise<void> {
  let now = SET_AT
  const wakeful = await openAt(path, () => now)
  const target = TARGETS[variant]
  for (let done = 0; done < rows; done += CHUNK) {
    const items = Array.from({ length: Math.min(CHUNK, rows - done) }, (_, index) => ({
      when: RULES[(done + index) % RULES.length]!,
      target,
      payload: PAYLOAD,
    }))
    await wakeful.setMany(items)
    now += 1
    say(done + items.length)
  }
  // As on any file in use: the first start of all looks through every alarm once, whether its zone's data has changed.
  await wakeful.start()
  await wakeful.close()
}

/** From start until no timer is due any more: each alarm has fired once and stands at its next instant. */
async function drain(path: string, rows: number, variant: Variant): Promise<Pace> {
  const wakeful = await openAt(path, () => DUE_AT)
  let handled = 0
  wakeful.handle('handler', () => {
    handled += 1
  })
  const beside = new DatabaseSync(path, { readOnly: true })
  const due = beside.prepare('SELECT 1 FROM wakeful_timers WHERE shard = ? AND wake_at <= ? LIMIT 1')
  const shard = shardOf(beside, variant)
  const paceOf = pace()
  await wakeful.start()
  while (due.get(shard, DUE_AT) !== undefined) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  const measured = paceOf(rows)
  const events = beside.prepare('SELECT count(*) AS n FROM wakeful_events').get() as { n: number }
  beside.close()
  await wakeful.close()
  if (events.n !== rows || (variant === 'handler' && handled !== rows))
    throw new Error(`${events.n} events and ${handled} deliveries instead of ${rows}`)
  return measured
}

const ORDER = ['wakeful', 'raw', 'timed'] as const

/** One round: the engine, the raw loop, and the raw loop with the engine's time math in it. */
export type RecurringFigure = Readonly<Record<(typeof ORDER)[number], Pace>>

/** What the rounds of one variant came to. */
export interface Drained {
  readonly figures: RecurringFigure[]
  readonly spent: Spent[] | null
}

/** Rounds of all three, in turns and on copies of the same file; then, if asked for, once more under the profiler. */
export function measureRecurring(
  variant: Variant,
  { rows, rounds, profile }: { rows: number; rounds: number; profile: boolean },
  say: (phase: string, detail?: string) => void,
): Promise<Drained> {
  return inFolder(async (path) => {
    await fill(path, rows, variant, (done) =>
      say('filling the file', `${done.toLocaleString('en-US')} alarms`),
    )
    const copy = () => {
      copyFileSync(path, `${path}-copy`)
      return `${path}-copy`
    }
    const figures: RecurringFigure[] = []
    for (let round = 1; round <= rounds; round++) {
      say(`round ${round}`)
      const measured: Partial<Record<(typeof ORDER)[number], Pace>> = {}
      // Each takes its turn at being first: the disk may have more to do for whoever comes after.
      for (const name of [...ORDER.slice(round % 3), ...ORDER.slice(0, round % 3)]) {
        const file = copy()
        measured[name] =
          name === 'wakeful'
            ? await drain(file, rows, variant)
            : drainRaw(file, variant, DUE_AT, name === 'timed')
      }
      figures.push(measured as RecurringFigure)
    }
    if (!profile) return { figures, spent: null }
    say('once more, under the profiler')
    const { spent } = await profiled(() => drain(copy(), rows, variant))
    return { figures, spent }
  })
}
