import { expect, it } from 'vitest'
import { RequestQueue } from './request-queue.ts'

const ANN = { tenant: 't', owner: 'ann' }

/** Work that runs until it is released, and the names of what has started. */
function works(queue: RequestQueue) {
  const started: string[] = []
  const under: (() => void)[] = []
  const ask = (owner: string, name: string, signal?: AbortSignal) =>
    queue.run({ tenant: name < 'm' ? 't' : 'u', owner }, signal === undefined ? {} : { signal }, async () => {
      started.push(name)
      await new Promise<void>((resolve) => under.push(resolve))
      return name
    })
  const release = async () => {
    under.shift()!()
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { started, ask, release }
}

it('runs a bounded number at the same time, and lets owners take turns', async () => {
  const { started, ask, release } = works(new RequestQueue({ concurrency: 2, waitingMax: 10 }))
  const asked = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map((name) => ask(name[0]!, name))
  await Promise.resolve()
  expect(started).toEqual(['a1', 'a2'])
  for (let n = 0; n < asked.length; n++) await release()
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'])
})

it('lets tenants take turns, however many owners a tenant has', async () => {
  const { started, ask, release } = works(new RequestQueue({ concurrency: 1, waitingMax: 10 }))
  const names = ['a1', 'b1', 'c1', 'd1', 'd2', 'x1', 'y1', 'x2']
  const asked = names.map((name) => ask(name[0]!, name))
  for (let n = 0; n < names.length; n++) await release()
  await Promise.all(asked)
  expect(started).toEqual(['a1', 'b1', 'x1', 'c1', 'y1', 'd1', 'x2', 'd2'])
})

it('gives the event loop a turn between two that wait', async () => {
  const queue = new RequestQueue({ concurrency: 2, waitingMax: 1_000 })
  let rounds = 0
  const round = setInterval(() => {}, 1_000)
  const count = () => {
    rounds += 1
    if (round.hasRef()) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 100 }, () => queue.run(ANN, {}, () => 1)))
  clearInterval(round)
  round.unref()
  expect(rounds).toBeGreaterThanOrEqual(48)
})

it('continues after work that failed', async () => {
  const queue = new RequestQueue({ concurrency: 1, waitingMax: 10 })
  const fails = queue.run(ANN, {}, () => Promise.reject(new Error('no')))
  const works = queue.run(ANN, {}, () => 1)
  await expect(fails).rejects.toThrow('no')
  expect(await works).toBe(1)
  expect(await queue.run(ANN, {}, () => 2)).toBe(2)
})

it('skips a caller that disconnected while waiting, and runs the next one instead', async () => {
  const { started, ask, release } = works(new RequestQueue({ concurrency: 1, waitingMax: 10 }))
  const gone = new AbortController()
  const first = ask('a', 'a1')
  const second = ask('a', 'a2', gone.signal)
  const third = ask('b', 'b1')
  gone.abort()
  await expect(second).rejects.toThrow('The caller disconnected')
  await expect(ask('a', 'a3', gone.signal)).rejects.toThrow('The caller disconnected')
  await release()
  await release()
  expect([await first, await third]).toEqual(['a1', 'b1'])
  expect(started).toEqual(['a1', 'b1'])
})

it('rejects an owner with too many waiting requests, and no other', async () => {
  const { ask } = works(new RequestQueue({ concurrency: 1, waitingMax: 2 }))
  void ask('a', 'a1')
  void ask('a', 'a2')
  void ask('a', 'a3')
  await expect(ask('a', 'a4')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 1_000 })
  void ask('b', 'b1')
})

it('rejects every owner beyond the total that may wait', async () => {
  const { ask, release } = works(new RequestQueue({ concurrency: 1, waitingMax: 2, totalWaitingMax: 3 }))
  for (const name of ['a1', 'a2', 'a3', 'b1']) void ask(name[0]!, name)
  await expect(ask('c', 'c1')).rejects.toMatchObject({ code: 'rate_limited' })
  await release()
  void ask('c', 'c2')
  await expect(ask('b', 'b2')).rejects.toMatchObject({ code: 'rate_limited' })
})
