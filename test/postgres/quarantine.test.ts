import { describe, expect, test } from 'vitest'
import { pause } from '../../src/alarm/index.ts'
import { ANN } from '../../src/stores/conformance/harness.ts'
import { testDatabase } from './database.ts'
import { postgresBench } from './harness.ts'

/** Rows that cannot be read or written. */
const { url } = testDatabase()

describe('quarantine', () => {
  test('unreadable rows are quarantined, and the rest fire', async () => {
    const { bench, connect, schema } = await postgresBench(url)
    const leases = await bench.heartbeat()
    const [broken, gone, whole] = [
      await bench.alarm({ every: '1h' }),
      await bench.alarm({ delay: '1h' }),
      await bench.alarm({ delay: '1h' }),
    ]
    const client = await connect()
    await client.query(`UPDATE ${schema}.alarms SET rule = 'nonsense' WHERE id = $1`, [broken])
    await client.query(
      `UPDATE ${schema}.timers SET alarm = 999999 WHERE alarm = (SELECT seq FROM ${schema}.alarms WHERE id = $1)`,
      [gone],
    )
    bench.clock.step(3_600_000)
    const { timers: claimedTimers } = await bench.claim(leases)
    expect(claimedTimers.map(({ alarm }) => alarm.id)).toEqual([whole])
    await bench.settle(claimedTimers, 'delivered')
    const { rows } = await client.query(
      `SELECT status, last_error FROM ${schema}.outcomes o JOIN ${schema}.alarms a ON a.seq = o.alarm WHERE a.id = $1`,
      [broken],
    )
    expect(rows[0]).toMatchObject({ status: 'failed', last_error: /quarantined: its rule/ })
    await client.query(`DELETE FROM ${schema}.alarms WHERE id = ANY($1)`, [[broken, gone]])
    await client.query(
      `UPDATE ${schema}.tallies SET total = 0, pending = 0, completed = 0, failed = 0, fired = 0`,
    )
  })

  test('outcomes that cannot be written are quarantined and counted, and others are written', async () => {
    const { bench, store } = await postgresBench(url)
    const leases = await bench.heartbeat()
    const [good, ...bad] = await Promise.all(Array.from({ length: 4 }, () => bench.alarm({ delay: '1s' })))
    bench.clock.step(1000)
    const { timers: claimedTimers } = await bench.claim(leases)
    const settlements = claimedTimers.map(({ lease, alarm, timer }) => {
      const delivery = { ...bench.delivery('failed'), error: bad.includes(alarm.id) ? 'a\0b' : 'no luck' }
      return { lease, alarm, timer, delivery: delivery as ReturnType<typeof bench.delivery> }
    })
    const batches = [...new Set(claimedTimers.map(({ batch }) => batch))]
    expect(await store.settle(settlements, batches, bench.context())).toEqual({ lost: [], stale: 0 })
    expect(await bench.types(good!)).toEqual(['alarm.attempt_failed'])
    for (const id of bad) {
      expect(await bench.types(id)).toEqual(['alarm.failed'])
      expect(await bench.state(id)).toBe('failed')
    }
    expect(await store.stats(ANN)).toMatchObject({ total: 4, pending: 1, failed: 3 })
  })

  test('tallies of users’ transactions are the same before and after folding', async () => {
    const { bench, store, connect, schema } = await postgresBench(url)
    const client = await connect()
    for (const end of ['COMMIT', 'ROLLBACK', 'COMMIT']) {
      await client.query('BEGIN')
      await store.set([bench.request({ delay: '1h' })], bench.context(), client)
      await client.query(end)
    }
    await bench.edit(await bench.alarm({ delay: '1h' }), pause)
    expect(await store.stats(ANN)).toMatchObject({ total: 3, pending: 3 })
    await store.prune(0, 10)
    expect(await store.stats(ANN)).toMatchObject({ total: 3, pending: 3 })
    const { rows } = await client.query(`SELECT count(*)::int AS n FROM ${schema}.tallies WHERE slot < 0`)
    expect(rows[0]).toEqual({ n: 0 })
  })
})
