import { describe, expect, test } from 'vitest'
import { cancel, type Snapshot } from '../../src/alarm/index.ts'
import { ANN } from '../../src/stores/conformance/harness.ts'
import { begun, isWaiting, type PostgresBench, postgresBench } from './harness.ts'
import { testDatabase } from './database.ts'

/** The ways in which the obvious version fails (hazards.md), each by its number, where the conformance suite has none. */
const { url, client } = testDatabase()

/** Cancels in a transaction of the caller's own. */
async function cancelIn({ bench, store }: PostgresBench, id: string, tx: unknown) {
  const context = bench.context()
  const decide = (found: Snapshot) => {
    const { change, outcome } = cancel(found, context)
    return { change, answer: outcome }
  }
  return (await store.edit(ANN, { id }, decide, context, tx)).results[0]?.answer
}

describe('hazard 1: locks on the shard', () => {
  test('a user’s open transaction that cancels close to the instant stops neither beat nor settle', async () => {
    const at = await postgresBench(url)
    const { bench } = at
    const leases = await bench.heartbeat()
    const [flying, near] = [await bench.alarm({ delay: '1s' }), await bench.alarm({ delay: '2s' })]
    bench.clock.step(1000)
    const taking = await bench.claimOne(leases)
    const tx = await begun(at.connect())
    expect(await cancelIn(at, near, tx)).toBe('cancelled')
    const [renewed] = await bench.heartbeat()
    expect(renewed!.epoch).toBe(leases[0]!.epoch)
    expect(await bench.settle(taking, 'delivered')).toEqual({ lost: [], stale: 0 })
    expect(await bench.state(flying)).toBe('fired')
    await tx.query('COMMIT')
  })

  test('takeover waits for an open settle, and is not held up by it either', async () => {
    const { bench, connect, peer, schema } = await postgresBench(url)
    const other = await peer()
    await bench.heartbeat('one', ['app'])
    const settle = await begun(connect())
    await settle.query(`SELECT shard FROM ${schema}.shards WHERE pool = 'app' FOR KEY SHARE`)
    bench.clock.step(bench.store.leaseMs)
    expect(await bench.heartbeat('two', ['app'], other)).toEqual([])
    await settle.query('COMMIT')
    expect(await bench.heartbeat('two', ['app'], other)).toHaveLength(1)
  })

  test('a settle waits for a takeover under way, and then finds its lease lost', async () => {
    const { bench, connect, schema } = await postgresBench(url)
    const leases = await bench.heartbeat('one', ['app'])
    await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const taking = await bench.claimOne(leases)
    const takeover = await begun(connect())
    await takeover.query(`UPDATE ${schema}.shards SET holder = 'two', epoch = epoch + 1 WHERE pool = 'app'`)
    const settling = bench.settle(taking, 'delivered')
    expect(await isWaiting(settling)).toBe(true)
    await takeover.query('COMMIT')
    expect((await settling).lost).toEqual([taking.lease])
  })

  test('cancels from many callers leave the owner its takes', async () => {
    const { bench, peer } = await postgresBench(url)
    const callers = await peer()
    const leases = await bench.heartbeat()
    const ids = await Promise.all(Array.from({ length: 200 }, () => bench.alarm({ delay: '1s' })))
    const kept = await Promise.all(Array.from({ length: 20 }, () => bench.alarm({ delay: '1s' })))
    bench.clock.step(1000)
    const context = bench.context()
    const cancels = ids.map((id) =>
      callers.edit(
        ANN,
        { id },
        (found) => {
          const { change, outcome } = cancel(found, context)
          return { change, answer: outcome }
        },
        context,
      ),
    )
    const taken: string[] = []
    for (let i = 0; i < 50; i++) {
      const { timers: takings } = await bench.claim(leases, { limit: 5 })
      taken.push(...takings.map(({ alarm }) => alarm.id))
      await bench.settle(takings, 'delivered')
    }
    const outcomes = (await Promise.all(cancels)).map(({ results }) => results[0]?.answer)
    const won = ids.filter((_, i) => outcomes[i] === 'cancelled')
    expect(taken.filter((id) => won.includes(id))).toEqual([])
    expect(kept.every((id) => taken.includes(id))).toBe(true)
    expect(new Set(taken).size).toBe(taken.length)
  })
})

describe('hazard 4: the take’s look begins after its lock', () => {
  test('a cancel that commits while the take waits for it wins', async () => {
    const at = await postgresBench(url)
    const { bench } = at
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const tx = await begun(at.connect())
    expect(await cancelIn(at, id, tx)).toBe('cancelled')
    const taking = bench.claim(leases)
    expect(await isWaiting(taking, 20)).toBe(true)
    await tx.query('COMMIT')
    expect((await taking).timers).toEqual([])
    expect((await bench.claim(leases)).timers).toEqual([])
    expect(await bench.state(id)).toBe('cancelled')
  })

  test('a cancel that stays open holds its own shard up for a moment only, and rolled back it never was', async () => {
    const at = await postgresBench(url, { shards: 64 })
    const { bench, store } = at
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '1s' })
    const others = await Promise.all(Array.from({ length: 64 }, () => bench.alarm({ delay: '1s' })))
    bench.clock.step(1000)
    const tx = await begun(at.connect())
    await cancelIn(at, id, tx)
    const { timers: takings, nextWakeAt } = await bench.claim(leases)
    expect(takings.length).toBeGreaterThan(40)
    expect(takings.map(({ alarm }) => alarm.id)).not.toContain(id)
    expect(nextWakeAt).not.toBeNull()
    await bench.settle(takings, 'delivered')
    await tx.query('ROLLBACK')
    bench.clock.step(1000)
    const rest = await store.claim(await bench.heartbeat(), takeAll(at))
    expect(rest.timers.map(({ alarm }) => alarm.id)).toContain(id)
    expect(takings.length + rest.timers.length).toBe(others.length + 1)
  })

  test('a cancel long before the instant that is still open then is not overtaken, and stops nobody else', async () => {
    const at = await postgresBench(url)
    const { bench } = at
    const leases = await bench.heartbeat()
    const [cancelled, kept] = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '1h' })]
    const tx = await begun(at.connect())
    expect(await cancelIn(at, cancelled, tx)).toBe('cancelled')
    bench.clock.step(3_600_000)
    const first = await bench.claim(leases)
    expect(first.timers.map(({ alarm }) => alarm.id)).toEqual([kept])
    await bench.settle(first.timers, 'delivered')
    expect((await bench.claim(leases)).timers).toEqual([])
    await tx.query('COMMIT')
    expect((await bench.claim(leases)).timers).toEqual([])
    expect(await bench.state(cancelled)).toBe('cancelled')
  })

  test('what was locked once and left as it was still fires, with what was changed beside it', async () => {
    const at = await postgresBench(url)
    const { bench, store } = at
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '1h' })
    const context = bench.context()
    const nothing = () => ({ change: {}, answer: null })
    for (const end of ['ROLLBACK', 'COMMIT']) {
      const tx = await begun(at.connect())
      await store.edit(ANN, { id }, nothing, context, tx)
      await tx.query(end)
    }
    bench.clock.step(3_600_000)
    expect((await bench.claimOne(leases)).alarm.id).toBe(id)
  })
})

function takeAll({ bench }: PostgresBench) {
  const context = bench.context()
  return {
    context,
    limit: 100,
    inFlight: { size: 0, has: () => false },
    isLong: () => false,
    triage: ({ timer }: { timer: never }) => ({ kind: 'fire', timer }) as const,
  } as never
}

describe('hazard 7: group commit without isolation', () => {
  test('a transaction that holds a key holds up whoever sets that key, and nobody else', async () => {
    const { bench, store, connect } = await postgresBench(url)
    const tx = await begun(connect())
    await store.set([bench.request({ delay: '1h' }, { idempotencyKey: 'held' })], bench.context(), tx)
    const same = bench.set({ delay: '1h' }, { idempotencyKey: 'held' })
    const others = Array.from({ length: 30 }, (_, i) =>
      bench.set({ delay: '1h' }, { idempotencyKey: `i${i}` }),
    )
    const plain = bench.set({ delay: '1h' })
    const answers = await Promise.all([...others, plain])
    expect(answers.map(({ outcome }) => outcome)).toEqual(Array(31).fill('created'))
    expect(await isWaiting(same)).toBe(true)
    await tx.query('COMMIT')
    expect((await same).outcome).toBe('deduped')
  })

  test('two processes that set the same new key at once set one alarm', async () => {
    const { bench, peer } = await postgresBench(url)
    const other = await peer()
    const sets = Array.from({ length: 20 }, (_, i) => {
      const request = bench.request({ delay: '1h' }, { key: 'k', label: `${i}` })
      return (i % 2 === 0 ? bench.store : other).set([request], bench.context())
    })
    const answers = (await Promise.all(sets)).map(([answer]) => answer!)
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect(new Set(answers.map(({ snapshot }) => snapshot.alarm.id)).size).toBe(1)
    expect((await bench.get(answers[0]!.snapshot.alarm.id)).timers).toHaveLength(1)
  })

  /** Waits until so many wait for a lock. */
  async function untilBlocked(count: number): Promise<void> {
    const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    while ((await client.query(blocked)).rowCount !== count)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  test('batches write their keys in one order, whatever order they were given in', async () => {
    const { bench, store, peer, connect } = await postgresBench(url)
    for (const name of ['key', 'idempotencyKey'] as const) {
      const batch = (...names: string[]) =>
        names.map((each) => bench.request({ delay: '1h' }, { [name]: each }))
      const tx = await begun(connect())
      await store.set(batch('m'), bench.context(), tx)
      const waiting = store.set(batch('z', 'm', 'a'), bench.context())
      await untilBlocked(1)
      // What comes after the one that is waited for is not held: who has it and wants the other two would wait in a circle.
      const other = await peer()
      const [last] = await other.set(batch('z'), bench.context())
      const first = other.set(batch('a'), bench.context())
      await untilBlocked(2)
      await tx.query('ROLLBACK')
      const answers = [last!, ...(await waiting), ...(await first)]
      expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(3)
    }
  })

  test('a text that cannot be stored is refused alone', async () => {
    const { bench, store } = await postgresBench(url)
    const bad = bench.request({ delay: '1h' })
    const sets = [{ ...bad, alarm: { ...bad.alarm, label: 'a\0b' } }, bench.request({ delay: '1h' })]
    const ends = await Promise.allSettled(sets.map((each) => store.set([each], bench.context())))
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  test('callers of one moment share a commit, and tell others once', async () => {
    const { bench, store, connect, schema } = await postgresBench(url)
    const listener = await connect()
    let told = 0
    listener.on('notification', () => {
      told += 1
    })
    await listener.query(`LISTEN wakeful_${schema}`)
    await Promise.all(Array.from({ length: 100 }, () => bench.alarm({ delay: '1s' })))
    await Promise.all(Array.from({ length: 100 }, () => bench.alarm({ delay: '1h' })))
    await store.stats(ANN)
    await listener.query('SELECT 1')
    expect(told).toBeGreaterThanOrEqual(1)
    // On a slow machine they come in several groups; none is told of twice, and those of later not at all.
    expect(told).toBeLessThan(30)
  })
})

describe('hazard 8: sequence order is not commit order', () => {
  test('a reader waits at a gap for those who may still fill it, and misses nothing', async () => {
    const at = await postgresBench(url)
    const { bench, store } = at
    const [early, late] = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '1h' })]
    const tx = await begun(at.connect())
    await cancelIn(at, early, tx)
    await bench.cancel(late)
    const reading = store.events(ANN, { after: 0, limit: 10 })
    expect(await isWaiting(reading)).toBe(true)
    await tx.query('COMMIT')
    const events = await reading
    expect(events.map(({ alarmId }) => alarmId)).toEqual([early, late])
    expect(await store.lastEvent()).toBe(events.at(-1)!.seq)
  })

  test('one who is open for long hides what comes after, never for ever, and a gap it leaves is passed', async () => {
    const at = await postgresBench(url)
    const { bench, store } = at
    const [early, late] = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '1h' })]
    const tx = await begun(at.connect())
    await cancelIn(at, early, tx)
    await bench.cancel(late)
    expect(await store.events(ANN, { after: 0, limit: 10 })).toEqual([])
    await tx.query('ROLLBACK')
    expect((await store.events(ANN, { after: 0, limit: 10 })).map(({ alarmId }) => alarmId)).toEqual([late])
  })

  test('a writer of another database hides nothing', async () => {
    const at = await postgresBench(url)
    const elsewhere = await begun(at.connect())
    await elsewhere.query('CREATE TABLE mine (a int)')
    await elsewhere.query('INSERT INTO mine VALUES (1)')
    const id = await at.bench.alarm({ delay: '1h' })
    await at.bench.cancel(id)
    expect(await at.bench.types(id)).toEqual(['alarm.cancelled'])
    expect(await at.store.events(ANN, { after: 0, limit: 10 })).toHaveLength(1)
    await elsewhere.query('ROLLBACK')
  })
})

describe('hazards 9 to 11: what is known without asking', () => {
  test('a set in the past by another process is found although the look begins later', async () => {
    const { bench, peer } = await postgresBench(url)
    const other = await peer()
    const leases = await bench.heartbeat()
    bench.clock.step(3_600_000)
    expect((await bench.claim(leases)).timers).toEqual([])
    const told = Promise.withResolvers<void>()
    bench.store.onChange(() => told.resolve())
    await other.set([bench.request({ at: new Date(bench.now - 60_000) })], bench.context())
    await told.promise
    expect((await bench.claim(leases)).timers).toHaveLength(1)
  })

  test('what nobody told of is found at the next beat', async () => {
    const { bench, connect, schema } = await postgresBench(url)
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '2h' })
    bench.clock.step(3_600_000)
    expect((await bench.claim(leases)).timers).toEqual([])
    const hand = await connect()
    await hand.query(`UPDATE ${schema}.timers SET wake_at = $1`, [bench.now - 60_000])
    const again = await bench.heartbeat()
    expect((await bench.claim(again)).timers.map(({ alarm }) => alarm.id)).toEqual([id])
  })
})
