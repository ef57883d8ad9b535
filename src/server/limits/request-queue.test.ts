import { expect, it } from 'vitest'
import { RequestQueue } from './request-queue.ts'

const ANN = { tenant: 't', owner: 'ann' }

/** Work that goes on until it is let go, and what of it has begun. */
function works(turns: RequestQueue) {
  const begun: string[] = []
  const under: (() => void)[] = []
  const ask = (owner: string, name: string, signal?: AbortSignal) =>
    turns.take(
      { tenant: name < 'm' ? 't' : 'u', owner },
      signal === undefined ? {} : { signal },
      async () => {
        begun.push(name)
        await new Promise<void>((resolve) => under.push(resolve))
        return name
      },
    )
  const letGo = async () => {
    under.shift()!()
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, ask, letGo }
}

it('does so much at once, and lets those who wait take turns', async () => {
  const { begun, ask, letGo } = works(new RequestQueue({ atOnce: 2, waitingMax: 10 }))
  const asked = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map((name) => ask(name[0]!, name))
  await Promise.resolve()
  expect(begun).toEqual(['a1', 'a2'])
  for (let n = 0; n < asked.length; n++) await letGo()
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'])
})

it('lets tenants take turns, however many owners one of them has', async () => {
  const { begun, ask, letGo } = works(new RequestQueue({ atOnce: 1, waitingMax: 10 }))
  const names = ['a1', 'b1', 'c1', 'd1', 'd2', 'x1', 'y1', 'x2']
  const asked = names.map((name) => ask(name[0]!, name))
  for (let n = 0; n < names.length; n++) await letGo()
  await Promise.all(asked)
  expect(begun).toEqual(['a1', 'b1', 'x1', 'c1', 'y1', 'd1', 'x2', 'd2'])
})

it('lets everything else have its turn between two that wait', async () => {
  const turns = new RequestQueue({ atOnce: 2, waitingMax: 1_000 })
  let rounds = 0
  const round = setInterval(() => {}, 1_000)
  const count = () => {
    rounds += 1
    if (round.hasRef()) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 100 }, () => turns.take(ANN, {}, () => 1)))
  clearInterval(round)
  round.unref()
  expect(rounds).toBeGreaterThanOrEqual(48)
})

it('goes on after work that failed', async () => {
  const turns = new RequestQueue({ atOnce: 1, waitingMax: 10 })
  const fails = turns.take(ANN, {}, () => Promise.reject(new Error('no')))
  const works = turns.take(ANN, {}, () => 1)
  await expect(fails).rejects.toThrow('no')
  expect(await works).toBe(1)
  expect(await turns.take(ANN, {}, () => 2)).toBe(2)
})

it('does nothing for who has gone while waiting, and takes nobody else’s turn for it', async () => {
  const { begun, ask, letGo } = works(new RequestQueue({ atOnce: 1, waitingMax: 10 }))
  const gone = new AbortController()
  const first = ask('a', 'a1')
  const second = ask('a', 'a2', gone.signal)
  const third = ask('b', 'b1')
  gone.abort()
  await expect(second).rejects.toThrow('gone')
  await expect(ask('a', 'a3', gone.signal)).rejects.toThrow('gone')
  await letGo()
  await letGo()
  expect([await first, await third]).toEqual(['a1', 'b1'])
  expect(begun).toEqual(['a1', 'b1'])
})

it('refuses who waits for too much already, and nobody else', async () => {
  const { ask } = works(new RequestQueue({ atOnce: 1, waitingMax: 2 }))
  void ask('a', 'a1')
  void ask('a', 'a2')
  void ask('a', 'a3')
  await expect(ask('a', 'a4')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 1_000 })
  void ask('b', 'b1')
})

it('refuses everybody beyond what may wait in all', async () => {
  const { ask, letGo } = works(new RequestQueue({ atOnce: 1, waitingMax: 2, allMax: 3 }))
  for (const name of ['a1', 'a2', 'a3', 'b1']) void ask(name[0]!, name)
  await expect(ask('c', 'c1')).rejects.toMatchObject({ code: 'rate_limited' })
  await letGo()
  void ask('c', 'c2')
  await expect(ask('b', 'b2')).rejects.toMatchObject({ code: 'rate_limited' })
})
