import { describe, expect, test } from 'vitest'
import { cancel, pause, type Snapshot } from '../../src/alarm/index.ts'
import { ANN } from '../../src/stores/conformance/harness.ts'
import { testDatabase } from './database.ts'
import { begun, isWaiting, type PostgresHarness, postgresBench } from './harness.ts'

/** Concurrency bugs that the obvious implementation has and the conformance suite does not cover. */
const { url, client } = testDatabase()

/** Cancels in the caller's transaction. */
async function cancelIn({ bench, store }: PostgresHarness, id: string, tx: unknown) {
  const context = bench.context()
  const decide = (found: Snapshot) => {
    const { change, outcome } = cancel(found, context)
    return { change, answer: outcome }
  }
  return (await store.edit(ANN, { id }, decide, context, tx)).results[0]?.answer
}

describe('shard locks', () => {
  test('a user’s open transaction that cancels near the instant blocks neither heartbeat nor settle', async () => {
    const at = await postgresBench(url)
    const { bench } = at
    const leases = await bench.heartbeat()
    const [flying, near] = [await bench.alarm({ delay: '1s' }), await bench.alarm({ delay: '2s' })]
    bench.clock.step(1000)
    const claimed = await bench.claimOne(leases)
    const tx = await begun(at.connect())
    expect(await cancelIn(at, near, tx)).toBe('cancelled')
    const [renewed] = await bench.heartbeat()
    expect(renewed!.epoch).toBe(leases[0]!.epoch)
    expect(await bench.settle(claimed, 'delivered')).toEqual({ lost: [], stale: 0 })
    expect(await bench.state(flying)).toBe('fired')
    await tx.query('COMMIT')
  })

  test('a takeover waits for an open settle without blocking it', async () => {
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

  test('a settle waits for a running takeover, and then finds its lease lost', async () => {
    const { bench, connect, schema } = await postgresBench(url)
    const leases = await bench.heartbeat('one', ['app'])
    await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const claimed = await bench.claimOne(leases)
    const takeover = await begun(connect())
    await takeover.query(`UPDATE ${schema}.shards SET holder = 'two', epoch = epoch + 1 WHERE pool = 'app'`)
    const settling = bench.settle(claimed, 'delivered')
    expect(await isWaiting(settling)).toBe(true)
    await takeover.query('COMMIT')
    expect((await settling).lost).toEqual([claimed.lease])
  })

  test('cancels from many callers do not prevent claims', async () => {
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
    const claimed: string[] = []
    for (let i = 0; i < 50; i++) {
      const { timers: claimedTimers } = await bench.claim(leases, { limit: 5 })
      claimed.push(...claimedTimers.map(({ alarm }) => alarm.id))
      await bench.settle(claimedTimers, 'delivered')
    }
    const outcomes = (await Promise.all(cancels)).map(({ results }) => results[0]?.answer)
    const won = ids.filter((_, i) => outcomes[i] === 'cancelled')
    expect(claimed.filter((id) => won.includes(id))).toEqual([])
    expect(kept.every((id) => claimed.includes(id))).toBe(true)
    expect(new Set(claimed).size).toBe(claimed.length)
  })
})

describe('a claim reads after it has locked', () => {
  test('a cancel that commits while a claim waits for it wins', async () => {
    const at = await postgresBench(url)
    const { bench } = at
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '1s' })
    bench.clock.step(1000)
    const tx = await begun(at.connect())
    expect(await cancelIn(at, id, tx)).toBe('cancelled')
    const claimed = bench.claim(leases)
    expect(await isWaiting(claimed, 20)).toBe(true)
    await tx.query('COMMIT')
    expect((await claimed).timers).toEqual([])
    expect((await bench.claim(leases)).timers).toEqual([])
    expect(await bench.state(id)).toBe('cancelled')
  })

  test('an open cancel delays its shard only briefly, and a rolled back one has no effect', async () => {
    const at = await postgresBench(url, { shards: 64 })
    const { bench, store } = at
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '1s' })
    const others = await Promise.all(Array.from({ length: 64 }, () => bench.alarm({ delay: '1s' })))
    bench.clock.step(1000)
    const tx = await begun(at.connect())
    await cancelIn(at, id, tx)
    const { timers: claimedTimers, nextWakeAt } = await bench.claim(leases)
    expect(claimedTimers.length).toBeGreaterThan(40)
    expect(claimedTimers.map(({ alarm }) => alarm.id)).not.toContain(id)
    expect(nextWakeAt).not.toBeNull()
    await bench.settle(claimedTimers, 'delivered')
    await tx.query('ROLLBACK')
    bench.clock.step(1000)
    const rest = await store.claim(await bench.heartbeat(), claimAll(at))
    expect(rest.timers.map(({ alarm }) => alarm.id)).toContain(id)
    expect(claimedTimers.length + rest.timers.length).toBe(others.length + 1)
  })

  test('a cancel long before the instant that is still open then is respected, and blocks nothing else', async () => {
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

  test('timers that were locked but not changed still fire, together with changed ones', async () => {
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

function claimAll({ bench }: PostgresHarness) {
  const context = bench.context()
  return {
    context,
    limit: 100,
    inFlight: { size: 0, has: () => false },
    isOverTime: () => false,
    triage: ({ timer }: { timer: never }) => ({ kind: 'fire', timer }) as const,
  } as never
}

describe('group commits', () => {
  test('a transaction that locks a key blocks only sets of that key', async () => {
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

  test('two processes that set the same new key concurrently create one alarm', async () => {
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

  /** Waits until this many sessions wait for a lock. */
  async function untilBlocked(count: number): Promise<void> {
    const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    while ((await client.query(blocked)).rowCount !== count)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  test('batches lock their keys in one order, whatever the order of the calls', async () => {
    const { bench, store, peer, connect } = await postgresBench(url)
    for (const name of ['key', 'idempotencyKey'] as const) {
      const batch = (...names: string[]) =>
        names.map((each) => bench.request({ delay: '1h' }, { [name]: each }))
      const tx = await begun(connect())
      await store.set(batch('m'), bench.context(), tx)
      const waiting = store.set(batch('z', 'm', 'a'), bench.context())
      await untilBlocked(1)
      // The keys after the awaited one are not locked. A session that has it and wants the other two would deadlock.
      const other = await peer()
      const [last] = await other.set(batch('z'), bench.context())
      const first = other.set(batch('a'), bench.context())
      await untilBlocked(2)
      await tx.query('ROLLBACK')
      const answers = [last!, ...(await waiting), ...(await first)]
      expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(3)
    }
  })

  test('a text that cannot be stored is rejected alone', async () => {
    const { bench, store } = await postgresBench(url)
    const bad = bench.request({ delay: '1h' })
    const sets = [{ ...bad, alarm: { ...bad.alarm, label: 'a\0b' } }, bench.request({ delay: '1h' })]
    const ends = await Promise.allSettled(sets.map((each) => store.set([each], bench.context())))
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  test('concurrent callers share a commit and a notice', async () => {
    const { bench, store, connect, schema } = await postgresBench(url)
    const listener = await connect()
    let notices = 0
    listener.on('notification', () => {
      notices += 1
    })
    await listener.query(`LISTEN wakeful_${schema}`)
    await Promise.all(Array.from({ length: 100 }, () => bench.alarm({ delay: '1s' })))
    await Promise.all(Array.from({ length: 100 }, () => bench.alarm({ delay: '1h' })))
    await store.stats(ANN)
    await listener.query('SELECT 1')
    expect(notices).toBeGreaterThanOrEqual(1)
    // On a slow machine there are several groups, each with one notice.
    expect(notices).toBeLessThan(30)
  })
})

describe('the log is read in commit order', () => {
  test('a reader waits at a gap for open transactions and misses nothing', async () => {
    const at = await postgresBench(url)
    const { bench, store } = at
    const [early, late] = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '1h' })]
    const tx = await begun(at.connect())
    await cancelIn(at, early, tx)
    await bench.cancel(late)
    const reading = store.events(ANN, { after: 0, limit: 10 })
    expect(await isWaiting(reading)).toBe(true)
    await tx.query('COMMIT')
    const { events } = await reading
    expect(events.map(({ alarmId }) => alarmId)).toEqual([early, late])
    expect(await store.lastEvent()).toBe(events.at(-1)!.seq)
  })

  test('a filtered reader waits there too, and its cursor does not pass what is not committed yet', async () => {
    const at = await postgresBench(url)
    const { bench, store } = at
    const ids = [await bench.alarm({ delay: '1h' }), await bench.alarm({ every: '1h' })]
    const [early, late] = [ids[0]!, ids[1]!]
    const tx = await begun(at.connect())
    await cancelIn(at, early, tx)
    await bench.edit(late, pause)
    const query = { limit: 10, filter: { types: ['alarm.cancelled'] } }
    const during = await store.events(ANN, { ...query, after: 0 })
    expect(during.events).toEqual([])
    await tx.query('COMMIT')
    // A reader goes on from where the page ended, although that page was empty.
    const { events } = await store.events(ANN, { ...query, after: during.next })
    expect(events.map(({ alarmId }) => alarmId)).toEqual([early])
    const tail = await store.events(ANN, { limit: 10, filter: { types: ['alarm.paused'] }, after: 0 })
    expect(tail.events.map(({ alarmId }) => alarmId)).toEqual([late])
  })

  test('a long transaction hides later events, but not forever, and its gap is skipped after a rollback', async () => {
    const at = await postgresBench(url)
    const { bench, store } = at
    const [early, late] = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '1h' })]
    const tx = await begun(at.connect())
    await cancelIn(at, early, tx)
    await bench.cancel(late)
    expect((await store.events(ANN, { after: 0, limit: 10 })).events).toEqual([])
    await tx.query('ROLLBACK')
    const { events } = await store.events(ANN, { after: 0, limit: 10 })
    expect(events.map(({ alarmId }) => alarmId)).toEqual([late])
  })

  test('a transaction of another database hides nothing', async () => {
    const at = await postgresBench(url)
    const elsewhere = await begun(at.connect())
    await elsewhere.query('CREATE TABLE mine (a int)')
    await elsewhere.query('INSERT INTO mine VALUES (1)')
    const id = await at.bench.alarm({ delay: '1h' })
    await at.bench.cancel(id)
    expect(await at.bench.types(id)).toEqual(['alarm.cancelled'])
    expect((await at.store.events(ANN, { after: 0, limit: 10 })).events).toHaveLength(1)
    await elsewhere.query('ROLLBACK')
  })
})

describe('cached bounds', () => {
  test('a set in the past by another process is found although scans begin later', async () => {
    const { bench, peer } = await postgresBench(url)
    const other = await peer()
    const leases = await bench.heartbeat()
    bench.clock.step(3_600_000)
    expect((await bench.claim(leases)).timers).toEqual([])
    const notices = Promise.withResolvers<void>()
    bench.store.onChange(() => notices.resolve())
    await other.set([bench.request({ at: new Date(bench.now - 60_000) })], bench.context())
    await notices.promise
    expect((await bench.claim(leases)).timers).toHaveLength(1)
  })

  test('a timer without a notice is found at the next heartbeat', async () => {
    const { bench, connect, schema } = await postgresBench(url)
    const leases = await bench.heartbeat()
    const id = await bench.alarm({ delay: '2h' })
    bench.clock.step(3_600_000)
    expect((await bench.claim(leases)).timers).toEqual([])
    const client = await connect()
    await client.query(`UPDATE ${schema}.timers SET wake_at = $1`, [bench.now - 60_000])
    const again = await bench.heartbeat()
    expect((await bench.claim(again)).timers.map(({ alarm }) => alarm.id)).toEqual([id])
  })
})
