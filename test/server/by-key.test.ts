import { expect, it } from 'vitest'
import { serving } from './harness.ts'
import { connected } from './ws-client.ts'

const { call, url } = await serving()
const EVENT = { event: true }

it.each(['standup', 'why', 'pause', 'a/b c?d%2f'])(
  'reads and changes the alarm with the key %j',
  async (key) => {
    const path = `/v1/alarms/by-key/${encodeURIComponent(key)}`
    const { id } = (await call('PUT', path, { every: '1h', target: EVENT })).json
    const got = await call('GET', path)
    expect(got.json).toEqual((await call('GET', `/v1/alarms/${id}`)).json)
    expect(got.headers.get('etag')).toContain(`"${got.json.updated_at}.`)
    const edited = await call('PATCH', path, { label: 'new' })
    expect(edited).toMatchObject({ status: 200, json: { id, label: 'new' } })
    for (const verb of ['pause', 'resume', 'skip', 'fire'])
      expect(await call('POST', `${path}/${verb}`)).toMatchObject({ status: 200, json: { id } })
    for (const verb of ['retry', 'complete', 'fail'])
      expect(await call('POST', `${path}/${verb}`)).toMatchObject({ status: 409, json: { code: 'conflict' } })
    expect((await call('GET', `${path}/why`)).json).toMatchObject({ id })
    expect((await call('DELETE', path)).json).toMatchObject({ outcome: 'cancelled', alarm: { id } })
  },
)

it('rejects an edit of a version that is no longer the newest', async () => {
  const path = '/v1/alarms/by-key/versions'
  const { updated_at } = (await call('PUT', path, { every: '1h', target: EVENT })).json
  await call('PATCH', path, { label: 'new' })
  const stale = await call('POST', `${path}/pause`, undefined, { 'if-match': `"${updated_at}"` })
  expect(stale.json.code).toBe('conflict')
})

it('answers an unknown key like an unknown id', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['GET', '/why'],
  ] as const) {
    const body = method === 'PATCH' ? { label: 'x' } : undefined
    const { status, json } = await call(method, `/v1/alarms/by-key/none${path}`, body)
    expect(json).toMatchObject({ code: 'not_found', detail: 'There is no alarm with the key "none".' })
    expect(status).toBe(404)
  }
})

it('has the same calls over the WebSocket', async () => {
  const ws = await connected(url)
  await ws.call('setByKey', { key: 'ws', every: '1h', target: EVENT })
  expect((await ws.call('pauseByKey', { key: 'ws' })).result).toMatchObject({ key: 'ws', status: 'paused' })
  expect((await ws.call('editByKey', { key: 'ws', label: 'l' })).result).toMatchObject({ label: 'l' })
  expect((await ws.call('whyByKey', { key: 'ws' })).result).toMatchObject({ status: 'paused' })
})
