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
    /^`status` must be one of active, paused, .*timeout_unknown, not "xx"\.$/,
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
  const quotas = await refused('/v1/tenants/x', { quotas: { min_interval: 5 } }, 'PUT')
  expect(quotas.errors).toMatchObject([{ field: 'quotas.min_interval' }])
  const filter = await refused('/v1/alarms/actions', { action: 'pause', filter: { label: 5 } })
  expect(filter.errors).toMatchObject([{ field: 'filter.label' }])
  const batch = (...items: object[]) =>
    refused('/v1/alarms/batch', { items: items.map((item) => ({ ...event, ...item })) })
  for (const [wrong, text, field] of [
    [{ delay: '1x' }, "`items[1].delay`: '1x' is not a duration", 'items[1].delay'],
    [{}, '`items[1]`: Set exactly one of', 'items[1]'],
    [{ delay: '1h', label: 'é'.repeat(300) }, '`items[1].label` is 600 bytes long', 'items[1].label'],
  ] as const) {
    const { detail, errors } = await batch({ delay: '1h' }, wrong)
    expect(detail).toMatch(text)
    expect(errors).toMatchObject([{ field }])
  }
  expect((await batch({ delay: '1h' }, { cron_expr: '@daily', dst: { hole: 1 } })).errors).toMatchObject([
    { field: 'items[1].dst.hole', detail: '`items[1].dst`: Unknown field "hole". Known: `gap`, `overlap`.' },
  ])
  const missing = await refused('/v1/alarms/actions', {})
  expect(missing.detail).toMatch(/^`action` is required\. `filter` is required\. .*`\{\}` is all of yours\.$/)
  expect(missing.errors.map(({ field }) => field)).toEqual(['action', 'filter'])
  expect((await refused('/v1/events', {})).detail).toMatch(/^`type` is required\. A dotted name/)
  const key = await refused('/v1/keys/wk_1', undefined, 'DELETE')
  expect(key.detail).toBe('`id` must be the public part of a key: 16 hex digits.')
  const calendar = await refused('/v1/alarms', { cron_expr: '@daily', exclude: 'nocal', ...event })
  expect(calendar.detail).toMatch("no calendar 'nocal'. Create it first")
})

it.each<[object | string, string]>([
  [{}, 'Set exactly one of `fire_at`, `delay`, `when`, `cron_expr`, `every`, `rrule`. This time has none.'],
  [
    { delay: '1h', cron_expr: '@daily' },
    'Set exactly one of `fire_at`, `delay`, `when`, `cron_expr`, `every`, `rrule`. This time has `delay` and `cron_expr`.',
  ],
  [
    { delay: '1h', target: undefined },
    `The alarm has no target. Set \`target\` to the name of a handler, 'inbox', {"webhook":"https://…"} or {"event":true}, or give its owner a default target.`,
  ],
  [
    { delay: '5' },
    "`delay`: '5' has no unit. Write a duration like '250ms', '10s', '5m', '2h', '3d', '1w', '1h30m', '1.5h' or 'PT10M'.",
  ],
  [
    { delay: '1 month' },
    "`delay`: '1 month' is not a duration: months and years have no fixed length. Count in days or weeks.",
  ],
  [
    { fire_at: 'tomorrow' },
    '`fire_at` must be an instant such as 2030-01-01T09:00:00Z, not "tomorrow". Use `when` for plain language.',
  ],
  [
    { rrule: 'FREQ=FORTNIGHTLY' },
    "`rrule`: FREQ='FORTNIGHTLY' is not one of SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY.",
  ],
  [{ rrule: 'RRULE:COUNT=3' }, "`rrule`: 'COUNT=3' has no FREQ. Start with a FREQ such as FREQ=DAILY."],
  [
    { when: 'noon', timezone: 'Europe/Rom' },
    "`timezone`: 'Europe/Rom' is not a known time zone. Did you mean 'Europe/Rome'?",
  ],
  [
    { when: 'noon', timezone: '+02:00' },
    "`timezone`: '+02:00' is an offset, which ignores daylight saving time. Use an IANA name such as 'Europe/Rome' or 'UTC'.",
  ],
  [
    { delay: '1h', target: { webhok: 'https://a.example' } },
    '`target`: Unknown kind of target (webhok). Did you mean webhook? Known: inbox, default, handler, event, webhook.',
  ],
  [
    { delay: '1h', target: { webhook: 'a.example' } },
    '`target.webhook` must be a URL that begins with https:// or http://, not "a.example".',
  ],
  [
    { delay: '1h', target: { webhook: 'http://localhost/x' } },
    '`target.webhook` is at a loopback address, which webhooks cannot reach. The operator can allow such addresses with WAKEFUL_ALLOW_PRIVATE_TARGETS=1.',
  ],
  [{ when: [] }, '`when` must be a string, such as "2030-01-01T09:00:00Z", not a list.'],
  [{ fire_at: true }, '`fire_at` must be a string, such as "2030-01-01T09:00:00Z", not a boolean.'],
  [{ delay: '1h', target: '' }, '`target` is empty. Set a value, or leave it out.'],
  [{ delay: '1h', target: { event: 1 } }, '`target`: Write the event target as {"event":true}.'],
  [
    { delay: '1h', target: 'event' },
    '`target`: No process has registered the handler event. Did you mean {"event":true}? Otherwise write {"handler":"event"}, which is accepted before a process registers it.',
  ],
  [
    { delay: '1h', target: 'https//a' },
    '`target` https//a looks like a URL. Write {"webhook":"https://…"} to call a URL, or {"handler":"https//a"} for a handler of this name.',
  ],
  [
    { cron_expr: '0 9 * * *', misfire: 'al' },
    '`misfire` must be \'once\', \'skip\', \'all\' or {"all":{"max":1000,"within":"24h"}}, not \'al\'.',
  ],
  [
    { cron_expr: '0 9 * * *', exclude: 'eu' },
    "`exclude`: There is no calendar 'eu'. Create it first with PUT /v1/calendars/{name}.",
  ],
  [
    { delay: '1h', count: 3 },
    '`count` belongs to recurring rules. This `delay` fires once. Leave `count` out.',
  ],
  [{ delay: '1h', ack: 'yes' }, '`ack` must be one of delivery, report, not "yes".'],
  ['{', 'The body is not JSON: expected a name in quotes at character 1, found the end of the text.'],
])('answers the common mistake %j with what to do', async (fields, detail) => {
  const body = typeof fields === 'string' ? fields : { target: { event: true }, ...fields }
  expect((await call('POST', '/v1/alarms', body)).json.detail).toBe(detail)
})

it('suggests the field that was probably meant', async () => {
  const { json } = await call('POST', '/v1/alarms', { delay: '1h', target: { event: true }, lable: 'x' })
  expect(json.detail).toMatch(/^Unknown field "lable"\. Did you mean `label`\? Known: `fire_at`, `delay`, /)
  const body = { cron: '0 9 * * *', message: 'x', idempotencyKey: 'k', target: 'inbox' }
  expect((await call('POST', '/v1/alarms', body)).json.detail).toMatch(
    /"cron"\. Did you mean `cron_expr`\?.*"message"\. Did you mean `wake_message`\?.*"idempotencyKey"\. Did you mean `idempotency_key`\?/,
  )
})

it.each([
  [
    '/v1/stats?owner=ann',
    '`owner` can only be * here, which means all of them, not "ann". Name one with the header Wakeful-Owner.',
  ],
  [
    '/v1/alarms?tenant=a',
    '`tenant` can only be * here, which means all of them, not "a". Name one with the header Wakeful-Tenant.',
  ],
  ['/v1/calendars/eu', 'There is no calendar "eu". GET /v1/calendars lists them.'],
])('answers GET %s with what to do', async (path, detail) => {
  expect((await call('GET', path)).json.detail).toBe(detail)
})

it('bounds how often, and how soon, an alarm is retried', async () => {
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
