import { expect, it, vi } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serving } from './harness.ts'
import { connected } from './ws-client.ts'

const { url, call, wakeful } = await serving()
wakeful.handle('broken', () => {
  throw new Error('no space left')
})
await wakeful.start()

it('lists a failed occurrence of a recurring alarm over REST, the WebSocket and the client', async () => {
  const { json: alarm } = await call('POST', '/v1/alarms', { every: '1h', target: 'broken', max_failures: 1 })
  await call('POST', `/v1/alarms/${alarm.id}/fire`)
  const { items, next_cursor } = await vi.waitFor(async () => {
    const { json } = await call('GET', '/v1/failed')
    expect(json.items).toHaveLength(1)
    return json
  }, 30_000)
  expect(next_cursor).toBeNull()
  const [item] = items
  expect(item).toMatchObject({
    id: alarm.id,
    status: 'active',
    every: '1h',
    last_error: 'no space left',
    result: 'FAILED: no space left (after 1 attempt)',
  })
  expect(item.occurrence_id).toMatch(new RegExp(`^${alarm.id}-1-\\d+-forced$`))
  expect(Date.parse(item.scheduled_for)).toBeGreaterThan(0)
  expect((await call('GET', '/v1/history?status=failed')).json.items).toEqual(items)
  expect((await call('GET', '/v1/history?status=timeout_unknown')).json.items).toEqual([])
  expect((await call('GET', '/v1/stats')).json).toMatchObject({ total: 1, pending: 1, failed: 1 })
  const ws = await connected(url)
  expect((await ws.call('failed')).result).toEqual(items)
  expect((await ws.call('history', { status: 'failed' })).result).toEqual(items)
  ws.socket.close()
  const client = connect(url)
  const [seen] = await client.failed()
  expect(seen).toMatchObject({ id: alarm.id, occurrenceId: item.occurrence_id, lastError: 'no space left' })
  expect(seen!.scheduledFor).toEqual(new Date(item.scheduled_for))
  expect((await client.get(alarm.id))!.occurrenceId).toBeNull()
})
