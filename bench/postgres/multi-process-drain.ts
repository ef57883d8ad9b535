import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { perSecond } from '../statistics.ts'
import { PAST } from '../workload.ts'
import { untilEmpty } from './server.ts'

const PROGRAM = new URL('./drain-process.ts', import.meta.url)
const STILL_DUE = `SELECT 1 FROM wakeful.timers WHERE tenant = 'default' AND owner = '' AND wake_at <= ${PAST.unix * 1000} LIMIT 1`

/** Drains with this many processes at once: from their start until no alarm is due. */
export async function drainBy(processes: number, url: string, count: number): Promise<number> {
  const children = await Promise.all(Array.from({ length: processes }, () => forkOpen(url)))
  const startedAt = performance.now()
  for (const child of children) child.send('start')
  await untilEmpty(url, STILL_DUE)
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

/** Starts a process and waits until it has opened the store. */
async function forkOpen(url: string): Promise<ChildProcess> {
  const child = fork(PROGRAM, [url])
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`A process of the drain exited early, with code ${code}`)
  })
  await Promise.race([once(child, 'message'), exited])
  return child
}
