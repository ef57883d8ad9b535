import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Result, StoreName } from './result.ts'

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

/** Runs many seeds on all cores; ends when all are done, or it is told to stop. */
export async function campaign(options: CampaignOptions): Promise<void> {
  const { from, count = Number.POSITIVE_INFINITY, store = 'simulated', signal, onResult } = options
  let next = from
  const order = (): Order =>
    next < from + count && signal?.aborted !== true ? { seed: next++, store } : { done: true }
  const threads = Math.min(options.threads ?? availableParallelism(), count)
  await Promise.all(Array.from({ length: threads }, () => runThread(order, onResult)))
}

/** One thread runs one seed after the other, so that a failure of the process itself says which seed it was. */
function runThread(order: () => Order, onResult: (result: Result) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./campaign-thread.ts', import.meta.url))
    let current = order()
    worker.on('message', (result: Result) => {
      onResult(result)
      current = order()
      worker.postMessage(current)
    })
    worker.on('error', (thrown) =>
      reject(new Error(`${JSON.stringify(current)} ended its thread`, { cause: thrown })),
    )
    worker.on('exit', () => resolve())
    worker.postMessage(current)
  })
}
