import { expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serving } from './harness.ts'

const server = await serving()
const { call } = server
const EVENT = { event: true }

it('has an ETag that changes when the alarm fires, and an If-Match that compares what was asked', async () => {
  const options = { target: 'nobody', delay: '1h', ack: 'report', max_failures: 3 }
  const { json, headers } = await call('POST', '/v1/alarms', options)
  const path = `/v1/alarms/${json.id}`
  const etag = async () => (await call('GET', path)).headers.get('etag')!
  const set = headers.get('etag')!
  expect(await etag()).toBe(set)
  expect(set.startsWith(`"${json.updated_at}.`)).toBe(true)
  const paused = await call('POST', `${path}/pause`, undefined, { 'if-match': `"${json.updated_at}"` })
  expect(paused.status).toBe(200)
  const resumed = await call('POST', `${path}/resume`, undefined, { 'if-match': paused.headers.get('etag')! })
  expect(resumed.json.updated_at > json.updated_at).toBe(true)
  expect(await etag()).toBe(resumed.headers.get('etag'))
  const cancelled = await call('DELETE', path)
  expect(cancelled.json.alarm).toMatchObject({
    status: 'cancelled',
    cancelled_at: cancelled.json.alarm.updated_at,
  })
  expect(await etag()).toBe(cancelled.headers.get('etag'))
  expect(await etag()).not.toBe(resumed.headers.get('etag'))
})

it('previews the rule of an alarm, also through the client, and from any time', async () => {
  const remote = connect(server.url)
  for (const when of [{ cron: '0 9 * * 1' }, { every: '7h' }, 'every weekday at 9am'] as const) {
    const alarm = await remote.set(when, { target: EVENT })
    const next = alarm.nextFireAt!.toISOString()
    expect((await remote.preview(alarm.rule)).instants[0]!.instant).toBe(next)
    const own = await server.wakeful.get(alarm.id)
    expect(server.wakeful.preview(own!.rule).instants[0]!.instant).toBe(next)
  }
  const body = { when: 'in 10 minutes', from: '2020-05-01T10:00:00Z' }
  expect((await call('POST', '/v1/preview', body)).json.instants[0].instant).toBe('2020-05-01T10:10:00.000Z')
  const wrong = await call('POST', '/v1/preview', { when: 'noon', from: 5 })
  expect([wrong.status, wrong.json.field]).toEqual([400, 'from'])
})

it('refuses to make a recurring alarm fire once', async () => {
  const { json } = await call('POST', '/v1/alarms', { every: '1h', target: EVENT })
  const moved = await call('PATCH', `/v1/alarms/${json.id}`, { when: 'friday at 10am' })
  expect([moved.status, moved.json.reason]).toEqual([400, 'reschedule.ends_recurrence'])
  expect((await call('GET', `/v1/alarms/${json.id}`)).json.kind).toBe('every')
})

it('reads back every option that was set, without what is secret', async () => {
  const options = {
    delay: '1h',
    target: EVENT,
    backoff: { base_ms: 1_000, cap_ms: 60_000 },
    timeout: '90s',
    completion_timeout: '1h30m',
    on_failure: { webhook: 'https://example.com/dead', headers: { authorization: 'Bearer swordfish' } },
  }
  const { json } = await call('POST', '/v1/alarms', options)
  const read = await call('GET', `/v1/alarms/${json.id}`)
  expect(read.json).toMatchObject({
    backoff: options.backoff,
    timeout: '1m30s',
    completion_timeout: '1h30m',
    on_failure: 'https://example.com/dead',
    payload: {},
  })
  expect(read.text).not.toContain('swordfish')
  const plain = (await call('POST', '/v1/alarms', { delay: '1h', target: EVENT })).json
  expect(plain).toMatchObject({ backoff: { base_ms: 5_000, cap_ms: 3_600_000 }, completion_timeout: '5m' })
  expect(plain).not.toHaveProperty('timeout')
  expect(plain).not.toHaveProperty('on_failure')
})
