import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { caller, serving } from './harness.ts'
import { connected } from './ws-client.ts'

const server = await serving({ open: { allowPrivateTargets: true } })
await server.wakeful.start()

/** The bodies that a local receiver got, by path. A path that begins with a status is answered with it. */
const bodies = new Map<string, string[]>()
const sink = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const path = request.url!
    bodies.set(path, [...(bodies.get(path) ?? []), body])
    response.writeHead(Number(/^\/(\d{3})/.exec(path)?.[1] ?? 200)).end()
  })
})
await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
afterAll(() => void sink.close())
const hook = (path: string) => `http://127.0.0.1:${(sink.address() as AddressInfo).port}/${path}`

async function received(path: string, count = 1): Promise<string> {
  while ((bodies.get(`/${path}`)?.length ?? 0) < count)
    await new Promise((resolve) => setTimeout(resolve, 20))
  return bodies.get(`/${path}`)![count - 1]!
}

describe('a body template', () => {
  const body = {
    data: '{{wake_message}}',
    payload: { x: '{{wake_message}}', payload: '{{payload}}' },
    items: [{ payload: { data: 1 } }],
    other: '{{wake_message}}',
  }
  const payload = '{"z":9007199254740993,"10":1.10,"9":"é\\u00e9","data":{"b":1,"a":1e400}}'
  const filled = `{"data":"hi","payload":{"x":"hi","payload":${payload}},"items":[{"payload":{"data":1}}],"other":"hi"}`
  const target = (path: string) => ({ webhook: hook(path), body, headers: { payload: 'p', data: 'd' } })
  const alarm = (path: string, more: object = {}) =>
    JSON.stringify({ delay: '10ms', wake_message: 'hi', target: target(path), ...more }).replace(
      /}$/,
      `,"payload":${payload}}`,
    )

  it('may have members of any name, whichever way it was sent', async () => {
    await server.call('POST', '/v1/alarms', alarm('set'))
    await server.call('POST', '/v1/alarms/batch', `{"items":[${alarm('batch-1')},${alarm('batch-2')}]}`)
    await server.call('PUT', '/v1/alarms/by-key/k', alarm('by-key'))
    const { id } = (await server.call('POST', '/v1/alarms', { delay: '1h', target: 'inbox' })).json
    await server.call('PATCH', `/v1/alarms/${id}`, alarm('edit'))
    await server.call('POST', '/v1/alarms', alarm('400', { on_failure: target('dead') }))
    const owner = caller(server.url, { 'wakeful-owner': 'by-default' })
    await owner('PUT', '/v1/owner/target', { target: target('default') })
    await owner('POST', '/v1/alarms', alarm('', { target: undefined }))
    const ws = await connected(server.url)
    ws.say(`{"id":1,"call":"set","args":${alarm('ws')}}`)
    ws.say(`{"id":2,"call":"setMany","args":{"items":[${alarm('ws-batch')}]}}`)
    await server.call(
      'POST',
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set","arguments":${alarm('mcp')}}}`,
      { accept: 'application/json, text/event-stream' },
    )
    const paths = ['set', 'batch-1', 'batch-2', 'by-key', 'edit', '400', 'dead', 'default']
    for (const path of [...paths, 'ws', 'ws-batch', 'mcp'])
      expect([path, await received(path)]).toEqual([path, filled])
  })

  it('that would take hours to search is answered at once', async () => {
    const long = { webhook: hook('long'), body: `{{${' '.repeat(60_000)}x` }
    expect((await server.call('POST', '/v1/alarms', { delay: '1h', target: long })).status).toBe(201)
  })
})

it('waits a second after a 429 without Retry-After, whatever the backoff', async () => {
  const { status, json } = await server.call('POST', '/v1/alarms', {
    delay: '10ms',
    target: { webhook: hook('429') },
    max_failures: 1_000,
    backoff: { base_ms: 100, cap_ms: 100 },
  })
  expect(status).toBe(201)
  await received('429')
  let seen = json
  while (seen.failure_count === 0) seen = (await server.call('GET', `/v1/alarms/${json.id}`)).json
  const waitedMs = Date.parse(seen.next_fire_at) - Date.parse(seen.started_at)
  expect(waitedMs).toBeGreaterThanOrEqual(1_000 * (2 ** seen.failure_count - 1))
  await server.call('DELETE', `/v1/alarms/${json.id}`)
})
