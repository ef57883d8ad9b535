import { describe, expect, it } from 'vitest'
import { testDatabase } from '../../../../test/postgres/database.ts'
import { ALARM_COLUMNS } from '../../index.ts'
import { Dialect, type Querying, Session } from '../connection/index.ts'
import { migratePostgres } from '../index.ts'
import { insertAlarms } from '../sql/index.ts'
import { insertAlarmsParams } from './write-batch.ts'

const { url, client } = testDatabase()

type Value = string | number | null
type Fields = Readonly<Record<string, Value>>

const MODEL: Fields = {
  tenant: 't', owner: '', generation: 1, kind: 'once', timezone: 'UTC', fire_at: 5, label: '', target_kind: 'handler',
  target: 'x', pool: 'app', payload: null, message: '', conversation_id: '', correlation_id: 'c', max_failures: 5,
  backoff_base_ms: 1, backoff_cap_ms: 1, ack: 'delivery', completion_timeout_ms: 1, overlap: 'skip', priority: 0,
  created_via: 'library', created_at: 1, updated_at: 1, registered_at: 1,
} // biome-ignore format: a list

async function written(rows: readonly { fields: Fields; shard: number; wakeAt: number }[]) {
  await migratePostgres(url, 0)
  await client.query('TRUNCATE wakeful.alarms, wakeful.timers')
  const session = new Session(client as unknown as Querying, new Dialect('wakeful'))
  const alarms = rows.map(({ fields }) => ({ ...MODEL, ...fields }) as Fields)
  const lists = insertAlarmsParams(
    alarms.map((alarm) => ALARM_COLUMNS.map((column) => alarm[column] ?? null)),
    rows.map(({ shard, wakeAt }) => [shard, 'due', wakeAt, wakeAt, null, null, null, 1, 1, 0, null, null, 0]),
  )
  await session.run(insertAlarms, ...lists)
  const { rows: found } = await client.query<Record<string, Value>>(
    `SELECT a.*, t.shard, t.wake_at, t.tenant AS timers_tenant, t.target AS timers_target
     FROM wakeful.alarms a JOIN wakeful.timers t ON t.alarm = a.seq ORDER BY a.seq`,
  )
  return found
}

describe('new alarms', () => {
  it('each get their own values, and their own timer, where some columns differ, some hold nothing and some are all the same', async () => {
    const found = await written([
      { fields: { id: 'a', label: 'one', key: null, payload: '{"a":"\\"\\u0001"}' }, shard: 1, wakeAt: 10 },
      { fields: { id: 'b', label: '', key: 'k', payload: null, tenant: 'u' }, shard: 2, wakeAt: 20 },
      { fields: { id: 'c', label: 'th"r\\ee', key: null, payload: '[]', target: 'y' }, shard: 1, wakeAt: 30 },
    ])
    const seen = found.map((row) =>
      ['id', 'label', 'key', 'payload', 'tenant', 'timers_tenant', 'timers_target', 'shard', 'wake_at'].map(
        (column) => row[column],
      ),
    )
    expect(seen).toEqual([
      ['a', 'one', null, '{"a":"\\"\\u0001"}', 't', 't', 'x', 1, '10'],
      ['b', '', 'k', null, 'u', 'u', 'x', 2, '20'],
      ['c', 'th"r\\ee', null, '[]', 't', 't', 'y', 1, '30'],
    ])
  })

  it('keep payloads that are no JSON as they are', async () => {
    const payloads = ['', 'x\u0001y', null, '{}', 'NULL']
    const found = await written(
      payloads.map((payload, i) => ({ fields: { id: `id${i}`, payload }, shard: 1, wakeAt: 10 })),
    )
    expect(found.map(({ payload }) => payload)).toEqual(payloads)
  })

  it('use their own id as the correlation id by default', async () => {
    const corrs = async (...ids: (string | null)[]) => {
      const named = ids.map((each, i) => ({ id: `id${i}`, correlation_id: each ?? `id${i}` }))
      const found = await written(named.map((fields) => ({ fields, shard: 1, wakeAt: 10 })))
      return found.map((row) => row.correlation_id)
    }
    expect(await corrs(null, null)).toEqual(['id0', 'id1'])
    expect(await corrs(null, 'c')).toEqual(['id0', 'c'])
    expect(await corrs('id0', 'id0')).toEqual(['id0', 'id0'])
    expect(await corrs(null)).toEqual(['id0'])
  })

  it('keep one payload that all have, also none', async () => {
    for (const payload of ['{"a":1}', null, '']) {
      const found = await written([
        { fields: { id: 'a', payload }, shard: 1, wakeAt: 10 },
        { fields: { id: 'b', payload }, shard: 1, wakeAt: 10 },
      ])
      expect(found.map((row) => row.payload)).toEqual([payload, payload])
    }
  })
})
