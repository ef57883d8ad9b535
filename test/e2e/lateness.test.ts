import { afterEach, beforeEach, expect, test } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { newPath } from './actors.ts'

let wakeful: Wakeful

beforeEach(async () => {
  wakeful = await open(newPath())
})

afterEach(() => wakeful.close())

test('a retry after a short backoff is on time although nothing else wakes the loop', async () => {
  const starts: number[] = []
  const ended = new Promise<void>((resolve) => {
    wakeful.handle('fail', (fire) => {
      starts.push(performance.now())
      if (fire.attempt === 4) resolve()
      else throw new Error('not yet')
    })
  })
  await wakeful.start()
  await wakeful.set(new Date(), { target: 'fail', backoff: { baseMs: 50, capMs: 50 } })
  await ended
  const gaps = starts.slice(1).map((at, i) => at - starts[i]!)
  console.log(`retries with a backoff of 50 ms came after ${gaps.map((gap) => gap.toFixed(0)).join(', ')} ms`)
  expect(Math.max(...gaps)).toBeLessThan(500)
})

test('a missing report times out on time', async () => {
  wakeful.handle('await', () => {})
  await wakeful.start()
  const from = performance.now()
  const { id } = await wakeful.set(new Date(), { target: 'await', ack: 'report', completionTimeout: '100ms' })
  while ((await wakeful.get(id))!.status !== 'timed_out')
    await new Promise((resolve) => setTimeout(resolve, 5))
  expect(performance.now() - from).toBeLessThan(600)
})

test('a reader that follows the log sees a fire of the same process at once', async () => {
  wakeful.handle('note', () => {})
  await wakeful.start()
  const signal = AbortSignal.timeout(10_000)
  const seen = (async () => {
    for await (const event of wakeful.events({ follow: true, signal }))
      if (event.type === 'alarm.fired') return performance.now()
    return null
  })()
  await wakeful.set(new Date(Date.now() + 200), { target: 'note' })
  const due = performance.now() + 200
  const at = await seen
  expect(at).not.toBeNull()
  expect(at! - due).toBeLessThan(500)
})
