import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../testing/index.ts'
import { Circuit, Endpoint, Endpoints } from './endpoint.ts'
import { Postponed } from './targets.ts'

const SETTINGS = { failuresMax: 3, openMs: 10_000, openMsMax: 40_000, concurrency: 2 }
const never = new AbortController().signal

describe('a circuit', () => {
  function opened() {
    const clock = new VirtualClock()
    const circuit = new Circuit(clock, SETTINGS)
    for (let failures = 0; failures < 3; failures++) circuit.failed()
    return { clock, circuit }
  }

  test('opens after a number of failures in a row', () => {
    const circuit = new Circuit(new VirtualClock(), SETTINGS)
    for (const what of ['failed', 'failed', 'succeeded', 'failed', 'failed'] as const) circuit[what]()
    expect(circuit.refuseUnlessAllowed()).toBeNull()
    circuit.failed()
    expect(circuit.refuseUnlessAllowed()).toBe(10_000)
  })

  test('sends those it refuses back one after the other', () => {
    const { circuit } = opened()
    expect([
      circuit.refuseUnlessAllowed(),
      circuit.refuseUnlessAllowed(),
      circuit.refuseUnlessAllowed(),
    ]).toEqual([10_000, 10_002, 10_004])
  })

  test('lets one probe through when its time is over, and nothing beside it', async () => {
    const { circuit, clock } = opened()
    await clock.advance(9_999)
    expect(circuit.refuseUnlessAllowed()).toBe(1)
    await clock.advance(1)
    expect(circuit.refuseUnlessAllowed()).toBeNull()
    circuit.begin()
    expect(circuit.refuseUnlessAllowed()).toBeGreaterThanOrEqual(1_000)
    circuit.succeeded()
    expect(circuit.refuseUnlessAllowed()).toBeNull()
    expect(circuit.isHealthy).toBe(true)
  })

  test('stays open for twice as long after every probe that fails, up to its bound', async () => {
    const { circuit, clock } = opened()
    for (const openMs of [20_000, 40_000, 40_000]) {
      await clock.advance(circuit.refuseUnlessAllowed()!)
      circuit.begin()
      circuit.failed()
      expect(circuit.refuseUnlessAllowed()).toBe(openMs)
    }
    await clock.advance(50_000)
    circuit.begin()
    circuit.succeeded()
    for (let failures = 0; failures < 3; failures++) circuit.failed()
    expect(circuit.refuseUnlessAllowed()).toBe(10_000)
  })

  test('is not opened for longer by calls that began before it opened, and a probe that was broken off frees its place', async () => {
    const { circuit, clock } = opened()
    circuit.failed()
    expect(circuit.refuseUnlessAllowed()).toBe(10_000)
    await clock.advance(10_002)
    circuit.begin()
    circuit.abandoned()
    expect(circuit.refuseUnlessAllowed()).toBeNull()
  })
})

describe('an endpoint', () => {
  async function busy() {
    const clock = new VirtualClock()
    const endpoint = new Endpoint('https://example.com', clock, SETTINGS)
    const turns = [await endpoint.enter(never, 1_000), await endpoint.enter(never, 1_000)]
    return { clock, endpoint, turns }
  }

  test('allows a number of calls at a time, and the others in their order', async () => {
    const { endpoint, turns } = await busy()
    const entered: string[] = []
    const third = Promise.resolve(endpoint.enter(never, 1_000)).then(() => entered.push('third'))
    const fourth = Promise.resolve(endpoint.enter(never, 1_000)).then(() => entered.push('fourth'))
    await Promise.resolve()
    expect(entered).toEqual([])
    endpoint.leave(turns[0]!)
    await third
    expect(entered).toEqual(['third'])
    endpoint.leave(turns[1]!)
    await fourth
    expect(entered).toEqual(['third', 'fourth'])
  })

  test('postpones what has waited a quarter of a second in the queue', async () => {
    const { endpoint, clock } = await busy()
    const late = expect(endpoint.enter(never, 1_000)).rejects.toBeInstanceOf(Postponed)
    await clock.advance(250)
    await late
  })

  test('that is slow lets nothing wait', async () => {
    const { endpoint, clock, turns } = await busy()
    await clock.advance(20_000)
    endpoint.leave(turns[0]!)
    await endpoint.enter(never, 1_000)
    await expect(endpoint.enter(never, 1_000)).rejects.toMatchObject({ waitMs: expect.closeTo(5_000, -3) })
  })

  test('removes from the queue what is broken off', async () => {
    const { endpoint, turns } = await busy()
    const controller = new AbortController()
    const waiting = expect(endpoint.enter(controller.signal, 1_000)).rejects.toBeInstanceOf(Postponed)
    controller.abort('lost')
    await waiting
    for (const turn of turns) endpoint.leave(turn)
    expect(endpoint.isInUse).toBe(false)
  })
})

test('endpoints are each tenant’s own, and forgotten when there is nothing to remember', () => {
  const endpoints = new Endpoints(new VirtualClock(), SETTINGS)
  const first = endpoints.of('a', 'https://example.com')
  first.circuit.failed()
  expect(endpoints.of('a', 'https://example.com')).toBe(first)
  expect(endpoints.of('b', 'https://example.com')).not.toBe(first)
  const passing = endpoints.of('c', 'https://example.com')
  for (let index = 0; index < 2_000; index++) endpoints.of('d', `https://${index}.example.com`)
  expect(endpoints.of('c', 'https://example.com')).not.toBe(passing)
  expect(endpoints.of('a', 'https://example.com')).toBe(first)
  for (let index = 0; index < 20_000; index++)
    endpoints.of('e', `https://${index}.example.com`).circuit.failed()
  expect(endpoints.of('a', 'https://example.com')).not.toBe(first)
})
