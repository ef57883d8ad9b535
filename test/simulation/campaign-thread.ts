import { parentPort } from 'node:worker_threads'
import type { Order } from './campaign.ts'
import { resultOf } from './result.ts'

// Lost connections are frequent and their stack traces are never read. A failing seed is run again on its own.
Error.stackTraceLimit = 0

parentPort!.on('message', (order: Order) => {
  if ('done' in order) parentPort!.close()
  else void resultOf(order.store, order.seed, order.isBoot).then((result) => parentPort!.postMessage(result))
})
