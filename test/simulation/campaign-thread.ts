import { parentPort } from 'node:worker_threads'
import type { Order } from './campaign.ts'
import { resultOf } from './result.ts'

// Links break all the time, and nobody reads where: a failing seed is run again by itself.
Error.stackTraceLimit = 0

parentPort!.on('message', (order: Order) => {
  if ('done' in order) parentPort!.close()
  else void resultOf(order.store, order.seed).then((result) => parentPort!.postMessage(result))
})
