import { parentPort } from 'node:worker_threads'
import type { Order } from './campaign.ts'
import { resultOf } from './result.ts'

parentPort!.on('message', (order: Order) => {
  if ('done' in order) parentPort!.close()
  else void resultOf(order.store, order.seed).then((result) => parentPort!.postMessage(result))
})
