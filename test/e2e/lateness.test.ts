import { afterEach, beforeEach, expect, test } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { newPath } from './actors.ts'

let wakeful: Wakeful

beforeEach(async () => {
  wakeful = await open(newPath())
})

afterEach(() => wakeful.close())

/** The loop also wakes once a second by itself: what takes less was not found by that. */
const SOON_MS = 600

/** Measures until one delay is short: on a busy machine any may be long, but without the mechanism every one is. */
async function assertSoon(what: string, delayMs: () => Promise<number>): Promise<void> {
  const delays: number[] = []
  while (delays.length < 20 && !delays.some((ms) => ms < SOON_MS)) delays.push(await delayMs())
  console.log(`${what}: ${delays.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  expect(Math.min(...delays)).toBeLessThan(SOON_MS)
}

test('a retry after a short backoff is on time although nothing else wakes the loop', async () => {
  const starts: number[] = []
  let ended = () => {}
  wakeful.handle('fail', (fire) => {
    starts.push(performance.now())
    if (fire.attempt === 4) ended()
    else throw new Error('not yet')
  })
  await wakeful.start()
  await assertSoon('retries with a backoff of 50 ms', async () => {
    starts.length = 0
    const last = new Promise<void>((resolve) => {
      ended = resolve
    })
    await wakeful.set(new Date(), { target: 'fail', backoff: { baseMs: 50, capMs: 50 } })
    await last
    return Math.max(...starts.slice(1).map((at, i) => at - starts[i]!))
  })
})

test('a missing report times out on time', async () => {
  wakeful.handle('await', () => {})
  await wakeful.start()
  await assertSoon('a report awaited for 100 ms', async () => {
    const from = performance.now()
    const options = { target: 'await', ack: 'report', completionTimeout: '100ms' } as const
    const { id } = await wakeful.set(new Date(), options)
    while ((await wakeful.get(id))!.status !== 'timed_out')
      await new Promise((resolve) => setTimeout(resolve, 5))
    return performance.now() - from
  })
})

test('a reader that follows the log sees a fire of the same process at once', async () => {
  wakeful.handle('note', () => {})
  await wakeful.start()
  await assertSoon('a reader of the log', async () => {
    const { id } = await wakeful.set(new Date(Date.now() + 200), { target: 'note' })
    const due = performance.now() + 200
    for await (const event of wakeful.events({ follow: true }))
      if (event.type === 'alarm.fired' && event.alarmId === id) return performance.now() - due
    return Number.POSITIVE_INFINITY
  })
})
