import type pg from 'pg'
import { expect, test } from 'vitest'
import { begun, postgresBench } from './bench.ts'
import { testDatabase } from './database.ts'

const { url, client } = testDatabase()

test('a takeover ends what a stopped process’s handler has open: its locks are not waited for', async () => {
  await client.query('CREATE TABLE orders (id int PRIMARY KEY, n int)')
  await client.query('INSERT INTO orders VALUES (1, 0)')
  const { bench, store, connect, peer } = await postgresBench(url)
  const leases = await bench.own('one', ['app'])
  await bench.alarm({ delay: '1s' })
  bench.clock.step(1000)
  const { lease } = await bench.takeOne(leases)
  const [locked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
  // The process of this handler is stopped: it neither goes on nor beats.
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
  expect(await bench.own('two', ['app'], await peer())).toHaveLength(1)
  await client.query(`SET lock_timeout = '10s'`)
  await client.query('UPDATE orders SET n = n + 10')
  expect((await client.query('SELECT n FROM orders')).rows).toEqual([{ n: 10 }])
  expect((await bystander.query('SELECT 2 AS two')).rows, 'others’ transactions stay open').toEqual([
    { two: 2 },
  ])
  goesOn.reject(new Error('it goes on, and finds its transaction gone'))
  await expect(stopped).rejects.toThrow()
})
