import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { errorText } from '../../src/error.ts'
import { violation } from '../judge/breach.ts'
import { type Result, type StoreName, unfinished } from './result.ts'

/** Which seeds are run, and how. */
export interface CampaignOptions {
  readonly store?: StoreName
  readonly from: number
  /** How many; without end where it is absent. */
  readonly count?: number
  readonly threads?: number
  /** No seed is begun once it is aborted. */
  readonly signal?: AbortSignal
  readonly onResult: (result: Result) => void
}

/** What a thread is told to do next. */
export type Order = { readonly seed: number; readonly store: StoreName } | { readonly done: true }

/** A seed takes seconds at most, also on a busy machine: one that takes this long, of real time, will never end. */
const SEED_MS_MAX = 180_000

/** Runs many seeds on all cores; ends when all are done, or it is told to stop. */
export async function campaign(options: CampaignOptions): Promise<void> {
  const { from, count = Number.POSITIVE_INFINITY, store = 'simulated', signal, onResult } = options
  let next = from
  const order = (): Order =>
    next < from + count && signal?.aborted !== true ? { seed: next++, store } : { done: true }
  const threads = Math.min(options.threads ?? availableParallelism(), count)
  await Promise.all(Array.from({ length: threads }, () => runThread(order, onResult)))
}

/**
 * One thread runs one seed after the other, so that it is known which seed it was that never ended, or that ended its
 * thread: that is a failure of the seed, and another thread goes on with the next.
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

/** Answers with the seed at which the thread had to be given up; null where there was nothing more to do. */
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
