import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { errorText } from '../../src/error.ts'
import { violation } from '../judge/breach.ts'
import { type Result, type StoreName, unfinished } from './result.ts'

/** Which seeds to run, and how. */
export interface CampaignOptions {
  readonly store?: StoreName
  /** Whether to run programs that declare their alarms at every start. */
  readonly isBoot?: boolean
  readonly from: number
  /** The number of seeds; unlimited if absent. */
  readonly count?: number
  readonly threads?: number
  /** Starts no more seeds once aborted. */
  readonly signal?: AbortSignal
  readonly onResult: (result: Result) => void
}

/** The next command for a thread. */
export type Order =
  | { readonly seed: number; readonly store: StoreName; readonly isBoot: boolean }
  | { readonly done: true }

/** A seed takes a few seconds even on a busy machine. One that takes this long in real time will never end. */
const SEED_MS_MAX = 600_000

/** Runs many seeds on all cores, until all are done or the signal aborts. */
export async function campaign(options: CampaignOptions): Promise<void> {
  const {
    from,
    count = Number.POSITIVE_INFINITY,
    store = 'simulated',
    isBoot = false,
    signal,
    onResult,
  } = options
  let next = from
  const order = (): Order =>
    next < from + count && signal?.aborted !== true ? { seed: next++, store, isBoot } : { done: true }
  const threads = Math.min(options.threads ?? availableParallelism(), count)
  await Promise.all(Array.from({ length: threads }, () => runThread(order, onResult)))
}

/**
 * A thread runs one seed at a time, so a hang or crash can be attributed to its seed. That counts as a failure of the
 * seed, and another thread continues with the next.
 */
async function runThread(order: () => Order, onResult: (result: Result) => void): Promise<void> {
  for (;;) {
    const first = order()
    if ('done' in first) return
    const broken = await runUntilBroken(first, order, onResult)
    if (broken === null) return
    onResult(broken)
  }
}

/** Returns the result of the seed at which the thread was terminated, or null if it finished. */
function runUntilBroken(
  first: Extract<Order, { seed: number }>,
  order: () => Order,
  onResult: (result: Result) => void,
): Promise<Result | null> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./campaign-thread.ts', import.meta.url))
    let current: Order = first
    const giveUp = (breach: 'stuck' | 'error', why: string) => {
      clearTimeout(watchdog)
      void worker.terminate()
      if ('seed' in current) resolve(unfinished(current, violation(breach, `seed ${current.seed} ${why}`)))
    }
    const watch = () => setTimeout(() => giveUp('stuck', `did not end within ${SEED_MS_MAX} ms`), SEED_MS_MAX)
    let watchdog = watch()
    worker.on('message', (result: Result) => {
      clearTimeout(watchdog)
      onResult(result)
      current = order()
      if ('seed' in current) watchdog = watch()
      worker.postMessage(current)
    })
    worker.on('error', (thrown) => giveUp('error', `ended its thread: ${errorText(thrown)}`))
    worker.on('exit', () => resolve(null))
    worker.postMessage(current)
  })
}
