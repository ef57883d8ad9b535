import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serving } from '../server/harness.ts'

const close: (() => void)[] = []
afterEach(() => {
  for (const each of close.splice(0)) each()
})

/** A log of so many events behind a server whose stream the test writes. */
async function streaming(
  stream: (request: IncomingMessage, response: ServerResponse, after: number) => void,
) {
  const asked: { path: string; lastEventId: string | undefined }[] = []
  const log: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x')
    const after = url.searchParams.get('after')
    const place = after === 'newest' ? log.length : Number(after ?? 0)
    asked.push({ path: url.pathname, lastEventId: request.headers['last-event-id'] as string | undefined })
    if (url.pathname === '/v1/events/stream') return stream(request, response, place)
    const items = log.slice(place)
    const next = place + items.length
    response.setHeader('content-type', 'application/json')
    response.end(
      `{"items":[${items.join(',')}],"next_cursor":${after === null && next === 0 ? null : `"${next}"`}}`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { alarms: connect(url, { pollMs: 5 }), log, asked }
}

/** The nth event, as the server tells it; its alarm is `odd` or `even`. */
function event(n: number): string {
  const alarm = n % 2 === 0 ? 'even' : 'odd'
  return `{"id":"e${n}","cursor":"${n}","tenant":"t","type":"a.b","origin":"caught","alarm_id":"${alarm}","occurrence_id":null,"key":null,"subject":"é${n}","correlation_id":null,"at":"2030-01-01T00:00:00.000Z","data":{"n":9007199254740993}}`
}

const sent = (n: number) => `id: ${n}\ndata: ${event(n)}\n\n`

async function first(count: number, events: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of events) if (ids.push(id) === count) break
  return ids
}

const upTo = (n: number) => Array.from({ length: n }, (_, index) => `e${index + 1}`)

it('resumes a broken stream by Last-Event-ID, without missing or repeating an event', async () => {
  let opened = 0
  const { alarms, log, asked } = await streaming((_request, response, after) => {
    opened += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 1\n: alive\n\n')
    if (opened === 4) {
      for (let n = after + 1; n <= 9; n++) response.write(sent(n))
      return
    }
    // Cut in the middle of an event, and of a character.
    const bytes = Buffer.from(sent(after + 1) + sent(after + 2) + sent(after + 3))
    const cut = bytes.lastIndexOf(0xc3) + 1
    response.write(bytes.subarray(0, 40))
    response.write(bytes.subarray(40, cut), () => (opened === 2 ? response.end() : response.destroy()))
  })
  log.push(event(1), event(2))
  expect(await first(9, alarms.events({ follow: true }))).toEqual(upTo(9))
  const streams = asked.filter(({ path }) => path.endsWith('/stream'))
  expect(streams.map(({ lastEventId }) => lastEventId)).toEqual(['2', '4', '6', '8'])
})

it('returns the events of one alarm, and skips what is no event', async () => {
  const { alarms } = await streaming((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write('event: ping\ndata: {}\n\n')
    for (let n = 1; n <= 4; n++) response.write(sent(n))
  })
  const even = alarms.events({ follow: true, after: 'newest', alarmId: 'even' })
  expect(await first(2, even)).toEqual(['e2', 'e4'])
})

it('keeps data byte for byte', async () => {
  const { alarms } = await streaming((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sent(1))
  })
  for await (const { dataJson, subject } of alarms.events({ follow: true })) {
    expect({ dataJson, subject }).toEqual({ dataJson: '{"n":9007199254740993}', subject: 'é1' })
    break
  }
})

it('reads pages if the server has no stream', async () => {
  const { alarms, log, asked } = await streaming((_request, response) => {
    for (let n = 1; n <= 3; n++) log.push(event(n))
    response.writeHead(404, { 'content-type': 'application/problem+json' })
    response.end('{"code":"not_found","detail":"there is no call GET /v1/events/stream"}')
  })
  expect(await first(3, alarms.events({ follow: true }))).toEqual(upTo(3))
  expect(asked.filter(({ path }) => path.endsWith('/stream'))).toHaveLength(1)
})

it('waits for an unavailable server, and ends on permanent errors', async () => {
  let opened = 0
  const { alarms } = await streaming((_request, response) => {
    opened += 1
    if (opened === 1) {
      response.writeHead(503, { 'content-type': 'application/problem+json' })
      response.end('{"code":"store_unavailable","detail":"away"}')
    } else if (opened === 2) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`retry: 1\n${sent(1)}`)
    } else {
      response.writeHead(410, { 'content-type': 'application/problem+json' })
      response.end('{"code":"cursor_expired","detail":"too old"}')
    }
  })
  const ids: string[] = []
  const reading = (async () => {
    for await (const { id } of alarms.events({ follow: true })) ids.push(id)
  })()
  await expect(reading).rejects.toMatchObject({ code: 'cursor_expired', message: 'too old' })
  expect(ids).toEqual(['e1'])
})

it('waits for a server that becomes unavailable while the existing events are read', {
  timeout: 60_000,
}, async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'wakeful-follow-')), 'alarms.db')
  close.push(() => rmSync(dirname(file), { recursive: true }))
  const first = await serving({ store: file })
  const port = Number(new URL(first.url).port)
  for (let n = 0; n < 1_200; n++) await first.wakeful.append({ type: 'own.event', data: { n } })
  const alarms = connect(first.url, { retries: 0 })
  const read: unknown[] = []
  for await (const { data } of alarms.events({ follow: true })) {
    read.push(data.n)
    if (read.length === 100) {
      await first.close()
      // Later than the next page is asked for.
      setTimeout(() => void serving({ store: file, server: { port } }), 700)
    }
    if (read.length === 1_200) break
  }
  expect(read).toEqual(Array.from({ length: 1_200 }, (_, n) => n))
})

it('ends without an error while a stream is open', async () => {
  const abort = new AbortController()
  const { alarms } = await streaming((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sent(1))
  })
  const ids: string[] = []
  for await (const { id } of alarms.events({ follow: true, signal: abort.signal })) {
    ids.push(id)
    setTimeout(() => abort.abort(), 5)
  }
  expect(ids).toEqual(['e1'])
})
