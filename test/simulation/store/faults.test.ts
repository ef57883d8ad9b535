import { describe, expect, it } from 'vitest'
import { ANN, Harness, SteppedClock } from '../../../src/stores/conformance/harness.ts'
import type { ClaimedTimer } from '../../../src/stores/index.ts'
import { SimulatedDatabase } from './database.ts'
import { SimulatedStore } from './store.ts'
import { LinkLost, openWire, type Wire } from './wire.ts'

/** The statement whose connection breaks next, and in which direction. */
interface Break {
  readonly statement: string
  readonly lost: 'there' | 'back'
}

/** A store whose connections break on demand, and another process's store on the same database. */
function setUp() {
  const clock = new SteppedClock()
  const database = new SimulatedDatabase({ now: () => clock.now() })
  const breaks: Break[] = []
  const barriers = new Map<string, () => Promise<void>>()
  const wire: Wire = async (_, name, run) => {
    await barriers.get(name)?.()
    const [next] = breaks
    if (next?.statement !== name) return run()
    breaks.shift()
    if (next.lost === 'back') run()
    throw new LinkLost('the link broke')
  }
  const open = (process: string, by: Wire) =>
    new SimulatedStore({ database, process, clock, clockIsAuthority: true, wire: by })
  const store = open('one', wire)
  const peer = open('two', openWire)
  const skip = (reason: string) => {
    throw new Error(reason)
  }
  const bench = new Harness({ store, peer: '', transact: true }, clock, skip)
  return { bench, store, peer, breaks, barriers, database }
}

async function flying(bench: Harness): Promise<ClaimedTimer> {
  const leases = await bench.heartbeat('one')
  await bench.alarm({ delay: '1s' })
  bench.clock.step(1_000)
  return bench.claimOne(leases)
}

const LOST = { code: 'store_unavailable' }

describe('a connection that breaks', () => {
  it('before a set ran leaves nothing; after it ran, the alarm', async () => {
    const { bench, store, breaks } = setUp()
    for (const [lost, total] of [
      ['there', 0],
      ['back', 1],
    ] as const) {
      breaks.push({ statement: 'set', lost })
      await expect(bench.alarm({ delay: '1h' })).rejects.toMatchObject(LOST)
      expect((await store.stats(ANN)).total).toBe(total)
    }
  })

  it('after a claim ran leaves a batch that the next claim of the same process removes', async () => {
    const { bench, breaks, database } = setUp()
    const leases = await bench.heartbeat('one')
    await bench.alarm({ delay: '1s' })
    bench.clock.step(1_000)
    breaks.push({ statement: 'claim', lost: 'back' })
    await expect(bench.claim(leases)).rejects.toMatchObject(LOST)
    const [unknown] = database.tables.inFlight.values()
    const { timers: takings } = await bench.claim(leases)
    expect(takings).toHaveLength(1)
    const [known, ...others] = database.tables.inFlight.values()
    expect([known?.timers, others]).toEqual([unknown!.timers, []])
  })

  it('after a claim ran lets a cancel answer firing, and the next claim delivers nothing', async () => {
    const { bench, breaks, database } = setUp()
    const leases = await bench.heartbeat('one')
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1_000)
    breaks.push({ statement: 'claim', lost: 'back' })
    await expect(bench.claim(leases)).rejects.toMatchObject(LOST)
    expect(await bench.cancel(id)).toBe('firing')
    expect((await bench.claim(leases)).timers).toEqual([])
    expect(database.tables.inFlight.values()).toEqual([])
    expect(await bench.state(id)).toBe('cancelled')
  })

  it('after a settle ran makes the repeated settle stale (recorded-once)', async () => {
    const { bench, breaks } = setUp()
    const claimed = await flying(bench)
    breaks.push({ statement: 'settle', lost: 'back' })
    await expect(bench.settle(claimed, 'delivered')).rejects.toMatchObject(LOST)
    expect((await bench.settle(claimed, 'delivered')).stale).toBe(1)
    expect(await bench.types(claimed.alarm.id)).toEqual(['alarm.fired'])
  })

  it('after an acquisition committed leaves the shard to the process, which learns of it at its next heartbeat', async () => {
    const { bench, breaks, store } = setUp()
    breaks.push({ statement: 'leases.commit', lost: 'back' })
    await expect(bench.heartbeat('one')).rejects.toMatchObject(LOST)
    expect((await store.shardStates()).map(({ holder: owner }) => owner)).toEqual(['one', 'one'])
    expect(await bench.heartbeat('one')).toHaveLength(2)
  })

  it('after a handler’s commit ran keeps what it wrote', async () => {
    const { bench, breaks, store } = setUp()
    const { lease, alarm, timer } = await flying(bench)
    const written = bench.request({ delay: '1h' })
    const work = async (tx: unknown) => {
      await store.set([written], bench.context(), tx)
      return { lease, alarm, timer, delivery: bench.delivery('delivered') }
    }
    breaks.push({ statement: 'transact.commit', lost: 'back' })
    await expect(store.transact(lease, work, bench.context)).rejects.toMatchObject(LOST)
    expect(await bench.state(written.alarm.id)).toBe('active')
    expect(await bench.types(alarm.id)).toEqual(['alarm.fired'])
  })
})

describe('an open transaction', () => {
  it('of a user is invisible until it commits, and rolled back if its process is gone', async () => {
    const { bench, store, peer, database } = setUp()
    const [kept, gone] = [bench.request({ delay: '1h' }), bench.request({ delay: '1h' })]
    const tx = await store.begin()
    await store.set([kept], bench.context(), tx)
    expect(await peer.get(ANN, kept.alarm)).toBeNull()
    await store.commit(tx)
    expect((await peer.get(ANN, kept.alarm))?.timers).toHaveLength(1)
    const cut = await store.begin()
    await store.set([gone], bench.context(), cut)
    database.cutOff('one')
    await expect(store.commit(cut)).rejects.toMatchObject(LOST)
    expect((await peer.stats(ANN)).total).toBe(1)
  })

  it('makes other sets of the same key wait, and then returns its alarm to them', async () => {
    const { bench, store, peer } = setUp()
    const tx = await store.begin()
    const first = bench.request({ delay: '1h' }, { idempotencyKey: 'i' })
    await store.set([first], bench.context(), tx)
    const second = peer.set([bench.request({ delay: '2h' }, { idempotencyKey: 'i' })], bench.context())
    await store.commit(tx)
    const [answer] = await second
    expect([answer!.outcome, answer!.snapshot.alarm.id]).toEqual(['deduped', first.alarm.id])
  })

  it('makes a reader of the log wait for its events, so that none is missed', async () => {
    const { bench, store, peer } = setUp()
    const [one, two] = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '1h' })]
    const tx = await store.begin()
    const cancel = () => ({ change: { events: [cancelled(bench.now)] }, answer: null })
    await store.edit(ANN, { id: one }, cancel, bench.context(), tx)
    await bench.cancel(two)
    const read = peer.events(ANN, { after: 0, limit: 10 })
    await store.commit(tx)
    expect((await read).events.map(({ alarmId }) => alarmId)).toEqual([one, two])
  })

  it('that does not commit for long is ended by a takeover, and its commit is rejected (fenced)', async () => {
    const { bench, store, peer, barriers } = setUp()
    const { lease, alarm, timer } = await flying(bench)
    const barrier = blockAt(barriers, 'transact.commit')
    const work = async () => ({ lease, alarm, timer, delivery: bench.delivery('delivered') })
    const transacted = store.transact(lease, work, bench.context)
    await barrier.reached
    bench.clock.step(store.leaseMs)
    expect(await peer.heartbeat('two', ['app'], bench.context())).toHaveLength(1)
    barrier.go()
    await expect(transacted).rejects.toMatchObject(LOST)
    expect(await bench.types(alarm.id)).toEqual(['alarm.attempt_failed'])
  })

  it('of a handler whose lease holder seems dead is ended by a takeover, which waits for nothing', async () => {
    const { bench, store, peer, barriers } = setUp()
    const { lease, alarm, timer } = await flying(bench)
    const barrier = blockAt(barriers, 'transact.settle')
    const work = async (tx: unknown) => {
      await store.set([bench.request({ delay: '1h' }, { key: 'k' })], bench.context(), tx)
      return { lease, alarm, timer, delivery: bench.delivery('delivered') }
    }
    const transacted = store.transact(lease, work, bench.context)
    await barrier.reached
    bench.clock.step(store.leaseMs)
    await peer.heartbeat('two', ['app'], bench.context())
    const [answer] = await peer.set([bench.request({ delay: '2h' }, { key: 'k' })], bench.context())
    expect(answer!.outcome).toBe('created')
    barrier.go()
    await expect(transacted).rejects.toMatchObject(LOST)
  })
})

/** Holds back the next statement of this name until it is let go. */
function blockAt(barriers: Map<string, () => Promise<void>>, statement: string) {
  const [reached, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  barriers.set(statement, () => {
    reached.resolve()
    return gone.promise
  })
  return { reached: reached.promise, go: gone.resolve }
}

function cancelled(at: number) {
  return { type: 'alarm.cancelled', origin: 'caused', occurrence: null, at, data: {} } as const
}
