import { expect, it } from 'vitest'
import { serving } from './harness.ts'

const { call } = await serving()

it('says what would be right', async () => {
  const detail = async (body: object) => (await call('POST', '/v1/alarms', body)).json.detail as string
  expect(await detail({ delay: 300 })).toBe(
    '`delay` must be a string with a unit, such as "300s" for seconds, not a number.',
  )
  expect(await detail({ every: -0.5 })).toMatch('such as "90s"')
  expect(await detail({ fire_at: 1_900_000_000 })).toMatch('such as "2030-01-01T09:00:00Z"')
  expect(await detail({ delay: true })).toBe('`delay` must be a string, not a boolean.')
  expect((await call('GET', '/v1/alarms?status=xx')).json.detail).toMatch(
    /^`status` must be one of active, paused, .*pending, not "xx"\.$/,
  )
})

it('says which field is wrong, by its path, and what would be right', async () => {
  const refused = async (path: string, body: unknown, method = 'POST') => {
    const { status, json } = await call(method, path, body)
    expect(status).toBe(400)
    return json as { detail: string; errors: { field: string; detail: string }[] }
  }
  const event = { target: { event: true } }
  const top = await refused('/v1/alarms', { delay: '1h', colour: 1, shape: 2 })
  expect(top.errors.map(({ field }) => field)).toEqual(['colour', 'shape'])
  const nested = await refused('/v1/tenants/x', { quotas: { foo: 1 } }, 'PUT')
  expect(nested.detail).toMatch('`quotas`: Unknown field "foo". Known: `active_alarms`, ')
  expect(nested.errors).toMatchObject([
    { field: 'quotas.foo', detail: expect.stringContaining('min_interval') },
  ])
  const batch = (...items: object[]) =>
    refused('/v1/alarms/batch', { items: items.map((item) => ({ ...event, ...item })) })
  for (const [wrong, text, field] of [
    [{ delay: '1x' }, "`items[1]`: '1x' is not a duration", 'items[1]'],
    [{}, '`items[1]`: A time has exactly one of', 'items[1]'],
    [{ delay: '1h', label: 'é'.repeat(300) }, '`items[1].label` is 600 bytes long', 'items[1].label'],
  ] as const) {
    const { detail, errors } = await batch({ delay: '1h' }, wrong)
    expect(detail).toMatch(text)
    expect(errors).toMatchObject([{ field }])
  }
  expect((await batch({ delay: '1h' }, { delay: '1h', dst: { hole: 1 } })).errors).toMatchObject([
    { field: 'items[1].dst.hole', detail: '`items[1].dst`: Unknown field "hole". Known: `gap`, `overlap`.' },
  ])
  const missing = await refused('/v1/alarms/actions', {})
  expect(missing.detail).toMatch(/^`action` is required\. `filter` is required\. .*`\{\}` is all of yours\.$/)
  expect(missing.errors.map(({ field }) => field)).toEqual(['action', 'filter'])
  expect((await refused('/v1/events', {})).detail).toMatch(/^`type` is required\. A dotted name/)
  const calendar = await refused('/v1/alarms', { cron_expr: '@daily', exclude: 'nocal', ...event })
  expect(calendar.detail).toMatch("no calendar 'nocal'. Create it first")
})

it('bounds how often, and how soon, an alarm is tried again', async () => {
  const set = (more: object) => call('POST', '/v1/alarms', { delay: '1h', target: 'inbox', ...more })
  for (const [more, field] of [
    [{ max_failures: 1_001 }, 'max_failures'],
    [{ backoff: { base_ms: 0 } }, 'backoff.base_ms'],
    [{ backoff: { base_ms: 99 } }, 'backoff.base_ms'],
    [{ backoff: { base_ms: 100, cap_ms: 0 } }, 'backoff.cap_ms'],
  ] as const) {
    const { status, json } = await set(more)
    expect([status, json.code, json.errors[0].field]).toEqual([400, 'invalid_request', field])
  }
})
