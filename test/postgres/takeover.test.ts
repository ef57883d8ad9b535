import type pg from 'pg'
import { expect, test, vi } from 'vitest'
import type { Serial } from '../../src/alarm/index.ts'
import { Database } from '../../src/stores/postgres/connection/database.ts'
import { testDatabase } from './database.ts'
import { begun, postgresBench } from './harness.ts'

const { url, client } = testDatabase()

test('a takeover ends the open handler transaction of a paused process without waiting for its locks', async () => {
  await client.query('CREATE TABLE orders (id int PRIMARY KEY, n int)')
  await client.query('INSERT INTO orders VALUES (1, 0)')
  const { bench, store, connect, peer } = await postgresBench(url)
  const leases = await bench.heartbeat('one', ['app'])
  await bench.alarm({ delay: '1s' })
  bench.clock.step(1000)
  const { lease } = await bench.claimOne(leases)
  const [locked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
  // The process of this handler is paused: it neither continues nor sends heartbeats.
  const stopped = store.transact(
    lease,
    async (tx) => {
      await (tx as pg.PoolClient).query('UPDATE orders SET n = n + 1')
      locked.resolve()
      return goesOn.promise
    },
    bench.context,
  )
  stopped.catch(() => {})
  await locked.promise
  const bystander = await begun(connect())
  await bystander.query('SELECT 1')

  bench.clock.step(store.leaseMs)
  expect(await bench.heartbeat('two', ['app'], await peer())).toHaveLength(1)
  await client.query(`SET lock_timeout = '10s'`)
  await client.query('UPDATE orders SET n = n + 10')
  expect((await client.query('SELECT n FROM orders')).rows).toEqual([{ n: 10 }])
  expect((await bystander.query('SELECT 2 AS two')).rows, 'others’ transactions stay open').toEqual([
    { two: 2 },
  ])
  goesOn.reject(new Error('it goes on, and finds its transaction gone'))
  await expect(stopped).rejects.toThrow()
})

test('a timer claimed twice counts as one attempt, whatever the order of its batches (at-least-once)', async () => {
  const { bench, store, schema } = await postgresBench(url)
  const leases = await bench.heartbeat('one', ['app'])
  await bench.alarm({ delay: '1s' }, { label: 'slow' })
  await bench.alarm({ delay: '1s' }, { label: 'again' })
  bench.clock.step(1000)
  const { timers: claimedTimers } = await bench.claim(leases)
  const [slow, again] = ['slow', 'again'].map(
    (label) => claimedTimers.find(({ alarm }) => alarm.label === label)!,
  )
  // It is released while the other timer of its batch is still delivered. That batch stays and names the old version.
  const { lease, alarm, timer } = again!
  await store.settle([{ lease, alarm, timer, delivery: { kind: 'released' } }], [], bench.context())
  const inFlight = { size: 1, has: (id: Serial) => id === slow!.timer.id }
  expect((await bench.claim(leases, { inFlight })).timers).toHaveLength(1)
  // PostgreSQL reuses the space of a page, so the older batch may be stored after the newer one.
  await client.query(`WITH older AS (DELETE FROM ${schema}.in_flight_batches WHERE id = ${again!.batch.id} RETURNING *)
    INSERT INTO ${schema}.in_flight_batches OVERRIDING SYSTEM VALUE SELECT * FROM older`)

  bench.clock.step(store.leaseMs)
  const claimed = await bench.claim(await bench.heartbeat('two', ['app'], await bench.peer()))
  expect(claimed.timers.map(({ timer }) => timer.attempt)).toEqual([1, 1])
})

test('a paused process that was removed acquires nothing, because it could never be taken over (at-least-once)', async () => {
  const { bench, store, peer } = await postgresBench(url)
  const two = await peer()
  const blocked = Promise.withResolvers<void>()
  const { transaction } = Database.prototype
  const spy = vi.spyOn(Database.prototype, 'transaction').mockImplementationOnce(async function (
    this: Database,
    work,
  ) {
    await blocked.promise
    return transaction.call(this, work) as never
  })
  const claiming = bench.heartbeat('one', ['app'])
  await vi.waitFor(() => expect(spy).toHaveBeenCalledOnce())
  // Its heartbeat was answered. Before it acquires, another process considers it dead, takes the shard and releases it.
  bench.clock.step(store.leaseMs)
  const leases = await bench.heartbeat('two', ['app'], two)
  expect(leases).toHaveLength(1)
  await two.leave('two')
  blocked.resolve()
  await claiming
  // It dies without another heartbeat.
  bench.clock.step(2 * store.leaseMs)
  expect(await bench.heartbeat('two', ['app'], two)).toHaveLength(1)
})
