import { describe, expect, it } from 'vitest'
import {
  agent,
  bodyOf,
  call,
  client,
  compared,
  errors,
  id,
  inProblem,
  lines,
  type Made,
  option,
  own,
  set,
  TARGET,
  thrownBy,
  time,
  type Wrong,
  ws,
} from './same-errors/calls.ts'
import { CASES } from './same-errors/cases.ts'

/** One wrong call has one error, whichever interface it is made through: the same code, reason, parameters and field. */

describe('a wrong call', () => {
  it.each(CASES.map((each) => [each.title, each] as const))('%s', async (_, wrong) => {
    const left = wrong.differs?.params
    const library = compared(await thrownBy(wrong.library), left)
    expect(library).toMatchObject({ reason: wrong.reason })
    expect(library.field).toBe(wrong.field)
    const answers = {
      client: await thrownBy(wrong.client),
      rest: inProblem((await call(...wrong.rest)).json),
      ws: inProblem((await ws.call(...wrong.ws)).error),
      ...(wrong.mcp !== undefined && { mcp: inProblem(JSON.parse((await agent.tool(...wrong.mcp)).json)) }),
    }
    for (const [where, answer] of Object.entries(answers))
      expect([where, compared(answer, left)]).toEqual([where, library])
  })
})

describe('names the field that was probably meant', () => {
  it.each([
    [set('', { delay: '1h' }, { lable: 'x' }), 'label'],
    [set('', { delay: '1h' }, { maxFailurs: 3 }), 'maxFailures'],
    [option('backoff', { baseMss: 1_000 }, ''), 'baseMs'],
    [time({ cron: '@daily', dst: { gapp: 'skip' } }, ''), 'gap'],
    [time({ cron: '@daily', misfire: { al: {} } }, ''), 'all'],
    [time({ cron: '@daily', misfire: { all: { maxx: 1 } } }, ''), 'max'],
    [time({ cron: '@daily', exclude: { calendar: 'x' } }, ''), 'calendars'],
    [option('target', { webhook: 'https://a.example/', metod: 'PUT' }, ''), 'method'],
    [option('onFailure', { handler: 'h', pol: 'x' }, ''), 'pool'],
  ] as const)('$0.title: %s', async (wrong, other) => {
    for (const made of [wrong.library, wrong.client])
      expect((await thrownBy(made)).params).toMatchObject({ other })
  })

  it('of a kind of target', async () => {
    const target: Wrong = { webhok: 'https://a.example/' }
    expect((await thrownBy(() => own.set({ delay: '1h' }, { target }))).params.near).toBe('webhook')
  })
})

it('what no request could carry is refused by the client as the library refuses it', async () => {
  for (const [one, other] of [
    [() => own.set('noon', 42 as Wrong), () => client.set('noon', 42 as Wrong)],
    [() => own.setMany(42 as Wrong), () => client.setMany(42 as Wrong)],
    [() => own.setMany([null] as Wrong), () => client.setMany([null] as Wrong)],
    [() => own.edit(id, [] as Wrong), () => client.edit(id, [] as Wrong)],
    [() => own.get(42 as Wrong), () => client.get(42 as Wrong)],
    [() => own.get(''), () => client.get('')],
    [() => own.set({ unix: 'x' as Wrong }, TARGET), () => client.set({ unix: 'x' as Wrong }, TARGET)],
    [
      () => own.set({ unix: 1_900_000_000_000 }, TARGET),
      () => client.set({ unix: 1_900_000_000_000 }, TARGET),
    ],
    [() => own.set({ unix: 1e15 }, TARGET), () => client.set({ unix: 1e15 }, TARGET)],
    [() => own.set({ at: 'noon', unix: 1 }, TARGET), () => client.set({ at: 'noon', unix: 1 }, TARGET)],
    [() => own.set(new Date(Number.NaN), TARGET), () => client.set(new Date(Number.NaN), TARGET)],
    [() => own.set(new Date(8.64e15), TARGET), () => client.set(new Date(8.64e15), TARGET)],
    [() => own.list({ since: 42 as Wrong }), () => client.list({ since: 42 as Wrong })],
    [() => own.pause(id, { updatedAt: 42 as Wrong }), () => client.pause(id, { updatedAt: 42 as Wrong })],
  ] as const)
    expect(await thrownBy(other)).toEqual(await thrownBy(one))
})

it('several mistakes are one error with all of them, also over the WebSocket', async () => {
  for (const [path, name, args] of [
    ['/v1/alarms/actions', 'act', { action: 'nonsense', ids: 1 }],
    ['/v1/targets/pause', 'pauseTarget', { target: '', nope: 1 }],
    ['/v1/alarms', 'set', { delay: '1h', colour: 1, shape: 2 }],
  ] as const) {
    const rest = (await call('POST', path, args)).json
    const { error } = await ws.call(name, args)
    expect([name, error.errors ?? error]).toEqual([name, rest.errors ?? rest])
    expect([name, error.reason]).toEqual([name, rest.reason])
  }
})

it('what is accepted is accepted by all: null is the default of a text, a choice or a number, and a batch may be empty', async () => {
  const nulls: Wrong = {
    label: null,
    ack: null,
    priority: null,
    maxFailures: null,
    key: null,
    idempotencyKey: null,
  }
  const views = [
    JSON.parse((await own.wire((await own.set({ delay: '1h' }, { ...TARGET, ...nulls })).id))!),
    JSON.parse((await own.wire((await client.set({ delay: '1h' }, { ...TARGET, ...nulls })).id))!),
    (await ws.call('set', bodyOf({ delay: '1h' }, { ...TARGET, ...nulls }))).result,
    JSON.parse((await agent.tool('set', bodyOf({ delay: '1h' }, { ...TARGET, ...nulls }))).json),
  ]
  for (const { id: each, ...view } of views) {
    expect(view).toMatchObject({ label: '', ack: 'delivery', max_failures: 5 })
    expect(view).not.toHaveProperty('key')
    await own.cancel(each)
  }
  const { label } = await own.edit(id, { label: 'x' })
  expect([label, (await call('PATCH', `/v1/alarms/${id}`, { label: null })).json.label]).toEqual(['x', ''])
  expect([await own.setMany([]), (await call('POST', '/v1/alarms/batch', { items: [] })).json]).toEqual([
    [],
    { items: [] },
  ])
})

/** What differs on purpose. Each has its reason, and nothing else may differ. */
describe('differs on purpose:', () => {
  it('a shared server allows neither fast retries nor very many', async () => {
    for (const options of [
      { maxFailures: 1_001 },
      { backoff: { baseMs: 99 } },
      { backoff: { capMs: 0, baseMs: 0 } },
    ]) {
      const { id: allowed } = await own.set({ delay: '1h' }, { ...TARGET, ...options })
      await own.cancel(allowed)
      expect(await thrownBy(() => client.set({ delay: '1h' }, { ...TARGET, ...options }))).toMatchObject({
        code: 'invalid_request',
        reason: 'field.not_whole_number',
      })
    }
  })

  it('over the network `at` is `fire_at` or `when`, and an error about two times names them', async () => {
    const others = async (made: Made) => (await thrownBy(made)).params.others
    const when: Wrong = { at: 'noon', delay: '1h' }
    expect(await others(() => own.set(when, TARGET))).toEqual(['at', 'delay'])
    expect(await others(() => client.set(when, TARGET))).toEqual(['at', 'delay'])
    const { json } = await call('POST', '/v1/alarms', { when: 'noon', delay: '1h', ...TARGET })
    expect(json).toMatchObject({ reason: 'when.kinds', params: { others: ['delay', 'when'] } })
  })

  it('a zone beside the options of `set` belongs to the time over the network', async () => {
    const error = await thrownBy(() => own.set('noon', { ...TARGET, timezone: 'Europe/Rom' }))
    expect(error).toMatchObject({ reason: 'timezone.unknown' })
    expect(await thrownBy(() => client.set('noon', { ...TARGET, timezone: 'Europe/Rom' }))).toEqual(error)
  })

  it('options of a time beside the alarm’s are refused by the library and the client, and are right over REST', async () => {
    const options: Wrong = { ...TARGET, count: 3 }
    const error = await thrownBy(() => own.set('every day at 9am', options))
    expect(error).toMatchObject({ reason: 'field.misplaced', field: 'count' })
    expect(await thrownBy(() => client.set('every day at 9am', options))).toEqual(error)
    expect((await call('POST', '/v1/preview', { when: 'every day at 9am', count: 3 })).status).toBe(200)
  })

  it('`fire_at` is an instant, while `at` of the library also takes plain language, which is `when` over the network', async () => {
    const refused = await call('POST', '/v1/alarms', { fire_at: 'noon', ...TARGET })
    expect(refused.json).toMatchObject({ code: 'invalid_time', reason: 'instant.words', field: 'fire_at' })
  })

  it('a preview over the network has `instants`, because `count` there is that of the rule', async () => {
    const library = await thrownBy(() => own.preview({ cron: '@daily' }, { count: 0 }))
    const network = await thrownBy(() => client.preview({ cron: '@daily' }, { count: 0 }))
    expect([library.field, network.field]).toEqual(['count', 'instants'])
    expect({ ...network, field: 'count' }).toEqual(library)
  })

  it('a request has a size, and a call of the library has none', async () => {
    const payload = 'x'.repeat(1_100_000)
    const { reason } = await thrownBy(() => own.set({ delay: '1h' }, { ...TARGET, payload }))
    expect(reason).toBe('payload.too_large')
    const { json } = await call('POST', '/v1/alarms', { delay: '1h', ...TARGET, payload })
    expect(json).toMatchObject({ code: 'payload_too_large', reason: 'body.too_large' })
  })

  it('over the network every unknown name is listed, because a program was probably written for another version', async () => {
    const { json } = await call('POST', '/v1/alarms', { delay: '1h', ...TARGET, colour: 1, shape: 2 })
    expect(json.errors.map(({ field }: { field: string }) => field)).toEqual(['colour', 'shape'])
  })

  it('in a query a number is its text', async () => {
    expect((await ws.call('alarms', { label: 42 })).result).toMatchObject({ items: [] })
    expect(await thrownBy(() => own.list({ label: 42 as Wrong }))).toMatchObject({ reason: 'field.invalid' })
  })

  it('an agent that names no target gets its wakes in the inbox', async () => {
    const { isError, text } = await agent.tool('set', { delay: '1h' })
    expect([isError, text]).toEqual([false, expect.stringContaining('your inbox')])
  })
})

it('sets nothing by a wrong call', async () => {
  const { items } = await own.list({ status: 'active', limit: 500 })
  expect(items.map(({ id: each }) => each)).toContain(id)
  expect(items.length).toBeLessThan(5)
  expect(errors).toEqual([])
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
