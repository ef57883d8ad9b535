import { expect, onTestFinished, test, vi } from 'vitest'
import { openTest } from './open-test.ts'
import { VirtualClock } from './virtual-clock.ts'

const START = '2030-01-01T00:00:00Z'
const T0 = Date.parse(START)

test('stands still until it is advanced', async () => {
  const clock = new VirtualClock(START)
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect([clock.now(), clock.monotonic()]).toEqual([T0, 0])
})

test('fires every deadline in order, each at its own moment', async () => {
  const clock = new VirtualClock(START)
  const seen: [string, number][] = []
  const note = (name: string) => () => seen.push([name, clock.now() - T0])
  clock.setTimer(300, note('c'))
  clock.setTimer(100, note('a'))
  clock.setTimer(100, note('b'))
  clock.setTimer(301, note('too late'))
  await clock.advance(300)
  expect(seen).toEqual([
    ['a', 100],
    ['b', 100],
    ['c', 300],
  ])
})

test('fires deadlines that were set on the way', async () => {
  const clock = new VirtualClock(START)
  const seen: number[] = []
  const again = () => {
    seen.push(clock.now() - T0)
    clock.setTimer(10, again)
  }
  clock.setTimer(10, again)
  await clock.advance('45ms')
  expect(seen).toEqual([10, 20, 30, 40])
})

test('lets what a deadline woke cancel the next one of the same moment', async () => {
  const clock = new VirtualClock(START)
  let fired = false
  const cancel = clock.setTimer(5, () => {
    fired = true
  })
  clock.setTimer(4, () => void Promise.resolve().then(cancel))
  await clock.advance(5)
  expect(fired).toBe(false)
})

test('waits for asynchronous work between two deadlines', async () => {
  const clock = new VirtualClock(START)
  const seen: string[] = []
  clock.setTimer(1, () => {
    void (async () => {
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
      seen.push('work')
    })()
  })
  clock.setTimer(2, () => seen.push('next'))
  await clock.advance(2)
  expect(seen).toEqual(['work', 'next'])
})

test('stands still during real work in hold', async () => {
  const clock = new VirtualClock(START)
  const seen: string[] = []
  clock.setTimer(1, () => {
    void clock
      .hold(new Promise((resolve) => setTimeout(resolve, 30)))
      .then(() => seen.push(`work at ${clock.now() - T0}`))
  })
  clock.setTimer(2, () => seen.push('next'))
  await clock.advance(2)
  expect(seen).toEqual(['work at 1', 'next'])
})

test('goes on after work in hold that fails, and leaves the failure to its caller', async () => {
  const clock = new VirtualClock(START)
  const failing = clock.hold(Promise.reject(new Error('no')))
  await clock.advance(1)
  await expect(failing).rejects.toThrow('no')
})

test('jumps the wall clock both ways without passing time', async () => {
  const clock = new VirtualClock(START)
  let fired = 0
  clock.setTimer(1000, () => {
    fired += 1
  })
  clock.jump('1h')
  expect([clock.now(), clock.monotonic()]).toEqual([T0 + 3_600_000, 0])
  clock.jump('-2h')
  clock.jump(-5)
  expect([clock.now(), clock.monotonic(), fired]).toEqual([T0 - 3_600_005, 0, 0])
  await clock.advance('1s')
  expect([clock.monotonic(), fired]).toEqual([1000, 1])
})

test('advances to an instant of the wall clock', async () => {
  const clock = new VirtualClock(START)
  await clock.advanceTo('2030-01-01T00:00:10Z')
  expect(clock.monotonic()).toBe(10_000)
  await expect(clock.advanceTo(START)).rejects.toThrow(/jump/)
  expect(() => clock.advance(-1)).toThrow(/jump/)
})

test('takes several advances at once one after the other', async () => {
  const clock = new VirtualClock(START)
  const seen: number[] = []
  clock.setTimer(150, () => seen.push(clock.monotonic()))
  await Promise.all([clock.advance(100), clock.advance(100)])
  expect([clock.monotonic(), seen]).toEqual([200, [150]])
})

test('passes time until a promise settles, and tells when it cannot', async () => {
  const clock = new VirtualClock(START)
  const late = new Promise<string>((resolve) => void clock.setTimer(60_000, () => resolve('done')))
  expect(await clock.until(late)).toBe('done')
  expect(clock.monotonic()).toBe(60_000)
  await expect(clock.until(new Promise(() => {}))).rejects.toThrow(/nothing is left/)
  clock.setTimer(2_000, () => {})
  await expect(clock.until(new Promise(() => {}), '1s')).rejects.toThrow(/too much is left/)
  await expect(clock.until(Promise.reject(new Error('its own')))).rejects.toThrow('its own')
})

test('ends a last millisecond that is passed turn by turn at the next millisecond', async () => {
  const clock = new VirtualClock(START)
  let turns = 0
  const spun = (async () => {
    while (clock.now() < T0 + 2) {
      await clock.turn()
      turns += 1
    }
    return clock.now() - T0
  })()
  await clock.advance(5)
  expect(await spun).toBe(2)
  expect(turns).toBeLessThan(10)
})

test('gives a real turn to a write in between', async () => {
  const clock = new VirtualClock(START)
  let turns = 0
  const worked = (async () => {
    for (; turns < 50; turns++) {
      await clock.turn()
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  await worked
  expect([turns, clock.monotonic()]).toEqual([50, 0])
})

test('says that fake timers have stopped the event loop, instead of waiting for ever', async () => {
  const { wakeful, clock, close } = await openTest()
  onTestFinished(close)
  await wakeful.start()
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers()
  const message = /^Fake timers have replaced setImmediate.*toFake: \["Date"\]/
  await expect(clock.advance('1s')).rejects.toThrow(message)
  await expect(openTest()).rejects.toThrow(message)
  await wakeful.set('in 1 hour', { target: 'remind' })
  vi.useRealTimers()
  await clock.advance('1s')
})

test('runs beside a fake Date', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['Date'] })
  const clock = new VirtualClock(START)
  await clock.advance('1s')
  expect(clock.now()).toBe(T0 + 1000)
})
