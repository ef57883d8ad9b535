import { fork } from 'node:child_process'
import { once } from 'node:events'
import { perSecond } from '../bed.ts'
import { PAST } from '../measures.ts'
import { until } from './peers.ts'

const DRAINER = new URL('./drainer.ts', import.meta.url)
const LEFT = `SELECT 1 FROM wakeful.timers WHERE tenant = 'default' AND owner = '' AND wake_at <= ${PAST.unix * 1000} LIMIT 1`

/** Drains by so many processes at once; counts from when they are told to until nothing of it is pending. */
export async function drainBy(processes: number, url: string, count: number): Promise<number> {
  const children = Array.from({ length: processes }, () => fork(DRAINER, [url]))
  await Promise.all(children.map((child) => once(child, 'message')))
  const startedAt = performance.now()
  for (const child of children) child.send('start')
  await until(url, LEFT)
  const rate = perSecond(count, startedAt)
  await Promise.all(
    children.map((child) => {
      const exited = once(child, 'exit')
      child.disconnect()
      return exited
    }),
  )
  return rate
}
