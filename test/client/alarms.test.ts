import { describe, expect, it } from 'vitest'
import { wireJson } from '../../src/alarm/index.ts'
import { connect, rawJson, WakefulError } from '../../src/client/index.ts'
import type { Alarms, AlarmView, When } from '../../src/index.ts'
import { serving } from '../server/harness.ts'

const EVENT = { event: true }
const { url, wakeful } = await serving()
const remote = connect(url)

/** What a client cannot know, or what differs by interface. */
function alike({ tenant: _t, owner: _o, createdVia: _c, ...view }: AlarmView) {
  return view
}

it('has the interface of the library, except what cannot work over the network', () => {
  // Compiled, not run: whatever takes these of the library takes them of a server.
  type Shared = Omit<Alarms, 'apply' | 'preview' | 'parse' | 'eventPages' | 'hasDefaultTarget'>
  const shared: Shared = remote
  expect(shared).toBe(remote)
})

const WHENS: Record<string, When> = {
  date: new Date('2040-01-01T09:00:00Z'),
  iso: '2040-01-01T09:00:00+01:00',
  words: 'tomorrow at 9am',
  'words that recur': 'every weekday at 9:30',
  at: { at: '2040-01-01T09:00', timezone: 'Europe/Rome' },
  unix: { unix: 2208988800.5 },
  delay: { delay: '90m', misfire: 'skip' },
  cron: { cron: '0 9 * * 1-5', timezone: 'America/New_York' },
  'cron with its zone': { cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *' },
  '@every': { cron: '@every 5m' },
  every: { every: '1h30m', count: 10 },
  months: { every: '2 months', start: '2040-01-31' },
  rrule: { rrule: 'DTSTART;TZID=Europe/Rome:20400101T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO' },
  everything: {
    cron: '0 9 25 * *',
    start: new Date('2040-01-01T00:00:00Z'),
    end: '2041-01-01T00:00Z',
    count: 9,
    jitter: '90s',
    misfire: { all: { max: 3 } },
    dst: { overlap: 'last' },
    exclude: { weekend: true, move: 'previous', offset: -1 },
  },
}

describe('an alarm that a client sets', () => {
  it.for(Object.entries(WHENS))('is the one the library has: %s', async ([, when]) => {
    const set = await remote.set(when, {
      target: { handler: 'work', pool: 'mine' },
      label: 'l',
      message: 'm é',
      conversationId: 'c',
      subject: 's',
      correlationId: 'r',
      createdBy: 'ann',
      payload: { b: 1, a: [null] },
      maxFailures: 3,
      backoff: { baseMs: 100, capMs: 200 },
      timeout: '5s',
      ack: 'report',
      completionTimeout: '1m',
      overlap: 'queue',
      priority: 7,
      onFailure: EVENT,
    })
    const own = (await wakeful.get(set.id))!
    const { rule, ...rest } = alike(set)
    const { rule: ownRule, ...ownRest } = alike(own)
    expect(rest).toEqual(ownRest)
    // What a rule is counted from, and the wall time it was given as, are not on the wire.
    const { wall: _w, anchor: _a, ...sent } = ownRule as typeof ownRule & { wall?: number; anchor?: number }
    expect(rule).toMatchObject(sent)
    expect(await remote.get(set.id)).toEqual(set)
    expect(wireJson(set)).toBe(await wakeful.wire(set.id))
    expect(await remote.wire(set.id)).toBe(await wakeful.wire(set.id))
  })

  it.for([{ event: true }, { handler: 'event' }, 'remind', { handler: 'print', pool: 'cli' }])(
    'has the target that it was given: %j',
    async (target) => {
      const set = await remote.set({ delay: '1h' }, { target })
      const { targetKind, pool, target: name } = (await wakeful.get(set.id))!
      expect(set).toMatchObject({ targetKind, pool, target: name })
    },
  )

  it('keeps its payload byte for byte, both ways (verbatim)', async () => {
    const text =
      '{"b": 9007199254740993,\n "a":1e400, "__proto__":1, "é":"\\u00e9é😀", "payload":{"data":1.0}}'
    const set = await remote.set({ delay: '1h' }, { target: EVENT, payload: rawJson(text), subject: 'bytes' })
    expect(set.payloadJson).toBe(text)
    expect((await wakeful.get(set.id))?.payloadJson).toBe(text)
    expect((await remote.list({ subject: 'bytes' })).items.map(({ payloadJson }) => payloadJson)).toEqual([
      text,
    ])
    const [many] = await remote.setMany([{ when: 'in 1 hour', target: EVENT, payload: rawJson(text) }])
    expect(many?.payloadJson).toBe(text)
    const deep = `${'['.repeat(98)}1${']'.repeat(98)}`
    await remote.set({ delay: '1h' }, { target: EVENT, payload: rawJson(deep), subject: 'deep' })
    expect((await remote.list({ subject: 'deep' })).items[0]?.payloadJson).toBe(deep)
    await expect(remote.set({ delay: '1h' }, { target: EVENT, payload: { a: Number.NaN } })).rejects.toThrow(
      'it contains NaN at "a"',
    )
    await expect(remote.set({ delay: '1h' }, { target: EVENT, payload: 1n })).rejects.toThrow(
      'cannot be written as JSON',
    )
  })

  it('is set once by its idempotency key, and again by its key', async () => {
    const once = () => remote.set({ delay: '1h' }, { target: EVENT, idempotencyKey: 'i' })
    const first = await once()
    expect(first).not.toHaveProperty('deduped')
    expect(await once()).toMatchObject({ id: first.id, deduped: true })
    const again = (key: string) => remote.set({ delay: '1h' }, { target: EVENT, key })
    for (const key of ['a/b c', '..', '%2e']) {
      const { id, ...set } = await again(key)
      expect(set).toMatchObject({ key })
      expect(set).not.toHaveProperty('replaced')
      expect(await again(key)).toMatchObject({ id, replaced: true })
    }
    const daily = () => remote.set({ cron: '0 9 * * *' }, { target: EVENT, key: 'daily' })
    const { id } = await daily()
    expect(await daily()).toMatchObject({ id, unchanged: true })
    const items = ['0 9 * * *', '0 8 * * *'].map((cron) => ({ when: { cron }, target: EVENT, key: 'daily' }))
    const [same, changed] = await remote.setMany(items)
    expect([same!.unchanged, changed!.unchanged, changed!.replaced]).toEqual([true, undefined, true])
    await remote.pause(id)
    expect(
      await remote.set({ cron: '0 8 * * *' }, { target: EVENT, key: 'daily', paused: false }),
    ).toMatchObject({
      status: 'active',
      replaced: true,
    })
    expect(await remote.getByKey('a/b c')).toMatchObject({ key: 'a/b c' })
    expect(await remote.getByKey('none')).toBeNull()
    const item = { when: { delay: '1h' }, target: EVENT, idempotencyKey: 'i' }
    expect((await remote.setMany([item]))[0]).toMatchObject({ id: first.id, deduped: true })
    expect(await remote.setMany([])).toEqual([])
  })

  it('reads plain language in the zone of the client, or of the call', async () => {
    const rome = connect(url, { timezone: 'Europe/Rome' })
    expect(await rome.set('tomorrow at 9am', { target: EVENT })).toMatchObject({ timezone: 'Europe/Rome' })
    expect(await remote.set('tomorrow at 9am', { target: EVENT })).toMatchObject({ timezone: 'UTC' })
    const tokyo = { target: EVENT, timezone: 'Asia/Tokyo' }
    const set = await rome.set('tomorrow at 9am', tokyo)
    expect(set).toMatchObject({ timezone: 'Asia/Tokyo' })
    // A move is read in the alarm's own.
    expect(await rome.reschedule(set.id, 'tomorrow at 10am')).toMatchObject({ timezone: 'Asia/Tokyo' })
    expect(await rome.reschedule(set.id, 'every day at 9am', { timezone: 'UTC' })).toMatchObject({
      timezone: 'UTC',
    })
    const changed = await rome.reschedule(set.id, { jitter: '5m' }, { timezone: 'Asia/Tokyo' })
    expect(changed).toMatchObject({ timezone: 'UTC', rule: { jitterMs: 300_000 } })
  })
})

it('reschedules, edits, pauses, skips, fires and cancels, and has the story', async () => {
  const alarms = connect(url, { owner: 'ann' })
  const own = wakeful.forTenant('default', 'ann')
  const { id } = await alarms.set({ every: '1h' }, { target: EVENT, subject: 'order-1' })
  expect(await remote.get(id)).toBeNull()
  const edited = await alarms.edit(id, { label: 'new', when: { every: '2h' } })
  expect(edited).toMatchObject({ label: 'new', owner: 'ann', rule: { everyMs: 7_200_000 } })
  await expect(alarms.pause(id, { updatedAt: edited.createdAt })).rejects.toMatchObject({ code: 'conflict' })
  expect(await alarms.pause(id, { updatedAt: edited.updatedAt })).toMatchObject({ status: 'paused' })
  expect(await alarms.resume(id)).toMatchObject({ status: 'active' })
  const { nextFireAt } = (await own.get(id))!
  expect((await alarms.skipNext(id)).nextFireAt!.getTime()).toBe(nextFireAt!.getTime() + 7_200_000)
  await alarms.fireNow(id)
  expect(await alarms.why(id)).toEqual({ ...(await own.why(id)), next: expect.any(String) })
  const cancelled = await alarms.cancel(id)
  expect(cancelled).toMatchObject({ outcome: 'cancelled', alarm: { id, status: 'cancelled' } })
  expect((await alarms.cancel(id)).outcome).toBe('ended')
  await expect(alarms.retry(id)).rejects.toBeInstanceOf(WakefulError)

  const [a, b] = await alarms.setMany([
    { when: { delay: '1h' }, target: EVENT, subject: 'order-1' },
    { when: { delay: '2h' }, target: EVENT },
  ])
  expect(await alarms.cancelMany([a!.id, 'none', id])).toEqual([
    { id: a!.id, outcome: 'cancelled' },
    { id: 'none', outcome: 'not_found' },
    { id, outcome: 'ended' },
  ])
  expect(await alarms.removeSubject('order-1')).toEqual({ cancelled: 0, firing: 0 })
  expect((await alarms.list({ status: 'active' })).items.map(alike)).toEqual([alike(b!)])
  expect(await alarms.stats()).toEqual(await own.stats())
  expect(await alarms.reset()).toEqual({ cancelled: 1, firing: 0 })
  expect((await alarms.history({ status: 'cancelled', limit: 2 })).map(alike)).toEqual(
    (await own.history({ status: 'cancelled', limit: 2 })).map(alike),
  )
  expect(await alarms.failed({ limit: 1 })).toEqual([])
})

it('lists by filters and pages', async () => {
  const alarms = connect(url).forTenant('acme', 'lists')
  const items = Array.from({ length: 5 }, (_, n) => ({
    when: { delay: `${n + 1}h` },
    target: EVENT,
    correlationId: 'c',
    conversationId: 'd',
  }))
  const set = await alarms.setMany(items)
  const options = { correlationId: 'c', conversationId: 'd', order: 'due', limit: 2 } as const
  const first = await alarms.list(options)
  const second = await alarms.list({ ...options, cursor: first.nextCursor! })
  expect([...first.items, ...second.items]).toEqual(set.slice(0, 4))
  const since = new Date(set[0]!.createdAt.getTime() + 3_600_000)
  for (const bound of [since, since.toISOString(), { unix: since.getTime() / 1000 }, { at: since }])
    expect((await alarms.list({ since: bound })).items).toEqual([])
  expect((await alarms.history({ since: { unix: 0 }, status: 'pending' })).length).toBe(5)
  expect((await alarms.history({ since: '2h' })).length).toBe(5)
  expect((await alarms.list({ since: '2h' })).items.length).toBe(5)
  for (const since of ['', 'tomorrow']) await expect(alarms.list({ since })).rejects.toThrow('since')
  await expect(alarms.list({ since: { delay: '1h' } })).rejects.toThrow('`since` must be an instant')
})

it('reports on an occurrence', async () => {
  wakeful.handle('work', () => {})
  const pending = await remote.set({ delay: '1h' }, { target: 'work', ack: 'report' })
  await expect(remote.complete(pending.id)).rejects.toMatchObject({ code: expect.any(String) })
  const set = await remote.set('now', { target: 'work', ack: 'report' })
  const other = await remote.set('now', { target: 'work', ack: 'report', maxFailures: 1 })
  await wakeful.tick()
  expect(await remote.complete(set.id, 'done: é')).toMatchObject({ status: 'completed', result: 'done: é' })
  await expect(remote.fail(other.id, 'no', { occurrenceId: 'none' })).rejects.toBeInstanceOf(WakefulError)
  expect(await remote.fail(other.id, 'no')).toMatchObject({ status: 'failed' })
  expect((await remote.failed()).map(({ id }) => id)).toContain(other.id)
})

it('previews and parses', async () => {
  const when = { every: '1 month', jitter: '5m', exclude: 'weekends', start: '2040-01-31' } as const
  const options = { count: 3, from: new Date('2041-01-01T00:00:00Z'), timezone: 'Europe/Rome' }
  expect(await remote.preview(when, options)).toEqual(wakeful.preview(when, options))
  const once = await remote.parse('2040-01-01T09:00', 'Europe/Rome')
  expect(once).toEqual({ ...wakeful.parse('2040-01-01T09:00', 'Europe/Rome'), notes: [] })
  expect(await remote.parse('every weekday at 9am')).toMatchObject({
    rule: { kind: 'cron' },
    timezone: 'UTC',
  })
})

describe('the log', () => {
  it('is read from a cursor on, with data byte for byte, and appended to', async () => {
    const alarms = connect(url, { owner: 'log' })
    const from = await alarms.newest()
    const data = '{"n":9007199254740993,"b":1,"a":2}'
    const event = await alarms.append({
      type: 'order.paid',
      subject: 'o-1',
      correlationId: 'c',
      data: rawJson(data),
    })
    expect(event).toMatchObject({ type: 'order.paid', subject: 'o-1', correlationId: 'c', dataJson: data })
    const { id } = await alarms.set({ delay: '1h' }, { target: EVENT })
    await alarms.pause(id)
    const read = async (options: Parameters<typeof alarms.events>[0]) =>
      Array.fromAsync(alarms.events(options))
    const own = await Array.fromAsync(wakeful.forTenant('default', 'log').events({ after: from }))
    expect(await read({ after: from })).toEqual(own)
    expect(await read({})).toEqual(own)
    expect((await read({ alarmId: id })).map(({ type }) => type)).toEqual(['alarm.paused'])
    expect(await read({ after: 'newest' })).toEqual([])
    await expect(read({ after: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('is followed, and ends without an error on abort', async () => {
    const alarms = connect(url, { owner: 'follow', pollMs: 10 })
    const abort = new AbortController()
    const seen: string[] = []
    const following = (async () => {
      for await (const { subject } of alarms.events({ follow: true, signal: abort.signal })) {
        seen.push(subject!)
        if (subject === 'last') abort.abort()
      }
    })()
    for (const subject of ['first', 'second', 'last']) await alarms.append({ type: 'a.b', subject })
    await following
    expect(seen).toEqual(['first', 'second', 'last'])
  })
})

it('throws the errors of the library', async () => {
  const cases: [string, (alarms: Pick<Alarms, 'set' | 'cancel' | 'why'>) => Promise<unknown>][] = [
    ['invalid_time', (alarms) => alarms.set('florp', { target: EVENT })],
    ['invalid_time', (alarms) => alarms.set(5 as never, { target: EVENT })],
    ['invalid_time', (alarms) => alarms.set(new Date(Number.NaN), { target: EVENT })],
    ['invalid_rule', (alarms) => alarms.set({ cron: 'florp' }, { target: EVENT })],
    ['invalid_timezone', (alarms) => alarms.set({ delay: '1h', timezone: 'Mars/Base' }, { target: EVENT })],
    [
      'invalid_request',
      (alarms) => alarms.set({ delay: '1h' }, { target: EVENT, idempotencyKey: 'é'.repeat(300) }),
    ],
    ['invalid_request', (alarms) => alarms.set({ delay: '1h' }, {})],
    ['invalid_request', (alarms) => alarms.set({ delay: '1h', every: '1h' }, { target: EVENT })],
    ['not_found', (alarms) => alarms.cancel('nope')],
    ['not_found', (alarms) => alarms.why('nope')],
  ]
  for (const [code, call] of cases) {
    const thrown = async (alarms: Pick<Alarms, 'set' | 'cancel' | 'why'>) =>
      call(alarms).then(
        () => null,
        (error: unknown) => error as WakefulError,
      )
    const [theirs, own] = [await thrown(remote), await thrown(wakeful)]
    expect(theirs).toBeInstanceOf(WakefulError)
    expect([theirs?.code, own?.code]).toEqual([code, code])
    expect(theirs?.reason).toBe(own?.reason)
    expect(theirs?.field).toBe(own?.field)
  }
  await expect(remote.set({ delay: '1h' }, { target: EVENT, tx: {} })).rejects.toThrow('Leave `tx` out')
  await expect(remote.set({ delay: '1h', florp: 1 } as never, { target: EVENT })).rejects.toThrow(
    'Unknown option "florp"',
  )
  await expect(remote.set({ delay: '1h' }, { target: EVENT, maxFailure: 1 } as never)).rejects.toThrow(
    'Unknown option "maxFailure". Did you mean `maxFailures`?',
  )
  // In the names of this client, all of them.
  await expect(remote.set('in 5m', { target: EVENT, mesage: 'x' } as never)).rejects.toThrow(
    /"mesage"\. Known: `at`, `delay`, `when`, `cron`, (?!.*_).*`conversationId`, `message`, /,
  )
  await expect(remote.edit('x', { timezone: 'UTC' })).rejects.toThrow('`timezone` needs `when`')
})

it('names the server that does not answer', async () => {
  const absent = connect('http://127.0.0.1:1', { retries: 0 })
  await expect(absent.stats()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^No answer from http:\/\/127\.0\.0\.1:1 \(fetch failed/),
  })
})
