import { expect, it } from 'vitest'
import { Random } from '../random.ts'
import { serving } from './harness.ts'
import { openStream, readInPieces, StreamReader } from './stream-client.ts'
import { until } from './ws-client.ts'

const HEARTBEAT_MS = 20
const server = await serving({ server: { live: { heartbeatMs: HEARTBEAT_MS } } })
const { url, call, wakeful } = server
const STREAM = `${url}/v1/events/stream`

it('streams each event with its cursor, type and JSON, from now on', async () => {
  const alarms = wakeful.forTenant('default', 'plain')
  const headers = { 'wakeful-owner': 'plain' }
  await alarms.append({ type: 'order.early' })
  const reader = new StreamReader()
  const stream = openStream(STREAM, reader, headers)
  expect(await stream.opened).toBe(200)
  const data = '{"n":9007199254740993,\r\n "b":1.0,\n"é":"\\u00e9\\n"}'
  const event = await call('POST', '/v1/events', `{"type":"order.paid","data":${data}}`, headers)
  await until(() => reader.events.length === 1)
  const [sent] = reader.events
  expect(sent).toMatchObject({ id: event.json.cursor, type: 'order.paid' })
  expect(JSON.parse(sent!.data)).toEqual(event.json)
  // Byte for byte, except for line breaks between its parts.
  expect(sent!.data).toContain(data.replace(/[\r\n]/g, ' '))
  await until(() => reader.comments.includes('quiet'))
  expect(reader.lastId).toBe(event.json.cursor)
  stream.cut()
})

it('rejects options it cannot stream', async () => {
  const cut = new AbortController()
  const response = await fetch(STREAM, { signal: cut.signal })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-request-id')).not.toBeNull()
  cut.abort()
  for (const query of ['after=florp', 'florp=1', 'type=', 'after=newest&after=oldest'])
    expect((await call('GET', `/v1/events/stream?${query}`)).json.code).toBe('invalid_request')
  const detail = async (types: string) =>
    (await call('GET', `/v1/events/stream?type=${types}`)).json.detail as string
  expect(await detail('order.paid,alarm.fird')).toMatch(
    '`type`: There is no event type "alarm.fird". Did you mean alarm.fired?',
  )
  for (const types of [
    'alarm.set',
    'Alarm.fired',
    'timer.florp',
    'alarm*',
    'watch.*',
    'watch.stale',
    '%20,%20',
  ])
    expect(await detail(types)).toMatch(/^`type`/)
  expect((await call('GET', '/v1/events/stream', undefined, { 'last-event-id': 'florp' })).status).toBe(400)
  expect((await call('POST', '/v1/events/stream')).status).toBe(405)
})

it('shows one alarm’s events, those of some types, and never another owner’s', async () => {
  const headers = { 'wakeful-owner': 'one' }
  const set = async (as: Record<string, string>) =>
    (await call('POST', '/v1/alarms', { delay: '1h', target: { event: true } }, as)).json.id as string
  const [mine, other, theirs] = [await set(headers), await set(headers), await set({})]
  const [one, paused, foreign, unknown] = [0, 0, 0, 0].map(() => new StreamReader())
  const streams = [
    openStream(`${STREAM}?alarm_id=${mine}`, one!, headers),
    openStream(`${STREAM}?type=alarm.paused&type=alarm.resumed`, paused!, headers),
    openStream(`${STREAM}?after=oldest&alarm_id=${theirs}`, foreign!, headers),
    openStream(`${STREAM}?after=oldest&alarm_id=nobody`, unknown!, headers),
  ]
  expect(await Promise.all(streams.map(({ opened }) => opened))).toEqual([200, 200, 200, 200])
  for (const id of [other, mine]) await call('POST', `/v1/alarms/${id}/pause`, undefined, headers)
  await call('POST', `/v1/alarms/${theirs}/pause`)
  await call('DELETE', `/v1/alarms/${mine}`, undefined, headers)
  await until(() => one!.events.length === 2 && paused!.events.length === 2)
  expect(one!.events.map(({ type }) => type)).toEqual(['alarm.paused', 'alarm.cancelled'])
  expect(paused!.events.map(({ type }) => type)).toEqual(['alarm.paused', 'alarm.paused'])
  await until(() => foreign!.comments.length > 0 && unknown!.comments.length > 0)
  expect([foreign!.events, unknown!.events]).toEqual([[], []])
  for (const { cut } of streams) cut()
})

it('misses and repeats no event, cut at random moments while 5,000 are appended', async () => {
  const chance = new Random(7)
  const random = () => chance.next()
  const EVENTS = 5_000
  for (const [owner, query, wanted] of [
    ['all', '', (_n: number) => true],
    ['some', '?type=order.odd', (n: number) => n % 2 === 1],
  ] as const) {
    const alarms = wakeful.forTenant('default', owner)
    const reader = new StreamReader()
    const reading = readInPieces([STREAM + query], reader, { 'wakeful-owner': owner }, random)
    await until(() => reader.lastId !== null)
    for (let n = 0; n < EVENTS; n += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          alarms.append({ type: (n + at) % 2 === 1 ? 'order.odd' : 'order.even', data: { n: n + at } }),
        ),
      )
      if (random() < 0.2) await new Promise((resolve) => setTimeout(resolve, random() * 30))
    }
    const expected: string[] = []
    for await (const event of alarms.events()) if (wanted(event.data.n as number)) expected.push(event.cursor)
    await until(() => reader.lastId !== null && reader.events.at(-1)?.id === expected.at(-1))
    const cuts = await reading.stop()
    expect(reader.events.map(({ id }) => id)).toEqual(expected)
    expect(expected).toHaveLength(wanted(0) ? EVENTS : EVENTS / 2)
    expect(cuts).toBeGreaterThan(10)
  }
}, 60_000)

it('ends in order when the server closes, and rejects streams beyond the limit', async () => {
  const { url: small, close } = await serving({ server: { live: { connectionsMax: 2 } } })
  const streams = [1, 2].map(() => openStream(`${small}/v1/events/stream`, new StreamReader()))
  expect(await Promise.all(streams.map(({ opened }) => opened))).toEqual([200, 200])
  const refused = await fetch(`${small}/v1/events/stream`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  await refused.text()
  streams[0]!.cut()
  await until(async () => {
    const again = openStream(`${small}/v1/events/stream`, new StreamReader())
    return (await again.opened) === 200
  })
  await close()
  await streams[1]!.ended
})

it('has logged no error', () => {
  expect(server.errors).toEqual([])
})
