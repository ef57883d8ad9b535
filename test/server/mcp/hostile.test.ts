import { expect, it } from 'vitest'
import { serving } from '../harness.ts'
import { httpAgent } from './agents.ts'

const server = await serving({ server: { bodyBytesMax: 200_000 } })
const BOTH = { accept: 'application/json, text/event-stream' }
const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  server.call('POST', '/mcp', body, { ...BOTH, ...headers })
const called = (args: string, name = '"set"') =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":${name},"arguments":${args}}}`
const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const BODIES: Readonly<Record<string, string>> = {
  nothing: '',
  'no JSON': '{"jsonrpc":',
  'a number': '1',
  null: 'null',
  'an empty object': '{}',
  'an empty list': '[]',
  'another version': '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
  'no method': '{"jsonrpc":"2.0","id":1}',
  'an unknown method': '{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}',
  'a method of another kind': '{"jsonrpc":"2.0","id":1,"method":7}',
  'an id of another kind': '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
  'no parameters': '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
  'parameters of another kind': '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}',
  'an unknown tool': called('{}', '"destroy"'),
  'a tool of another kind': called('{}', '7'),
  'the name of an object’s own': called('{}', '"__proto__"'),
  'arguments of another kind': called('7'),
  'arguments as a list': called('[]'),
  'a cursor that was tampered with': called(`{"cursor":"${btoa('list:9223372036854775808')}"}`, '"list"'),
  'a prototype': called('{"__proto__":{"delay":"1h"},"constructor":1}'),
  'a name twice': called('{"delay":"1h","delay":"2h"}'),
  'a deep payload': called(`{"delay":"1h","payload":${deep(10_000)}}`),
  'a deep message': `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${deep(10_000)}}`,
  'an endless number': called('{"delay":"1h","count":1e999}'),
  'a response nobody asked for': '{"jsonrpc":"2.0","id":1,"result":{}}',
  'an error nobody asked for': '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":{"a":1}}}',
  'a notification of another’s':
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
  'a claim of a version that is none':
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2999-01-01"}}}',
  'a broken claim':
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}',
  'a batch of 101': `[${Array.from({ length: 101 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`).join()}]`,
}

it.for(Object.entries(BODIES))('answers %s with a client error', async ([, body]) => {
  for (const headers of [{}, { 'mcp-protocol-version': '2026-07-28' }, { 'mcp-protocol-version': 'x\ty' }]) {
    const { status, text } = await post(body, headers)
    expect([status < 500, text.includes('node_modules'), text.includes('    at ')]).toEqual([
      true,
      false,
      false,
    ])
  }
  expect(await untouched()).toBe(true)
})

it('rejects __proto__ as an unknown field, as REST does', async () => {
  const target = '{"webhook":"https://example.com/wake","headers":{"__proto__":"x","a":"b"}}'
  for (const args of ['{"__proto__":{"a":1},"delay":"1h"}', `{"delay":"1h","target":${target}}`]) {
    const { result } = (await post(called(args))).json
    expect([result.isError, result.content[0].text]).toEqual([
      true,
      expect.stringMatching(/^invalid_request: Unknown argument "__proto__"/),
    ])
  }
  const agent = await httpAgent(server.url, {}, 'auto')
  const own = JSON.parse('{"__proto__":{"a":1},"delay":"1h"}') as Record<string, unknown>
  expect((await agent.tool('set', own)).text).toMatch('Unknown argument "__proto__"')
  expect(await untouched()).toBe(true)
})

it('names what is wrong with a message, as a client error', async () => {
  const error = async (method: string, params: string) =>
    (await post(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`)).json.error
  expect(await error('initialize', '{"protocolVersion":7,"capabilities":{}}')).toEqual({
    code: -32602,
    message:
      'initialize: params.protocolVersion: Invalid input: expected string, received number; params.clientInfo: Invalid input: expected object, received undefined',
  })
  for (const [method, params] of [
    ['tools/list', '{"cursor":7}'],
    ['tools/call', '{"name":7}'],
  ] as const)
    expect(await error(method, params)).toEqual({
      code: -32602,
      message: expect.stringMatching(
        /^tools\/\w+: params\.\w+: Invalid input: expected string, received number$/,
      ),
    })
})

it('rejects a tampered cursor', async () => {
  const { result } = (await post(called(`{"cursor":"${btoa('list:9223372036854775808')}"}`, '"list"'))).json
  expect(result.content[0].text).toMatch(/^invalid_request: .*cursor/)
})

it('rejects other content types, large bodies, and invalid UTF-8', async () => {
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'nonsense'])
    expect((await post(list, { 'content-type': type })).status).toBe(400)
  const large = await post(called(`{"delay":"1h","payload":"${'x'.repeat(300_000)}"}`))
  expect([large.status, large.json.code]).toEqual([413, 'payload_too_large'])
  const over = await post(called(`{"delay":"1h","wake_message":"${'x'.repeat(70_000)}"}`))
  expect([over.status, over.json.result.isError]).toEqual([200, true])
  expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]))).status).toBe(400)
  expect((await post(list, { accept: 'text/html' })).status).toBe(406)
  expect(await untouched()).toBe(true)
})

it('accepts messages only: no streams, no sessions', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const refused = await server.call(method, '/mcp', undefined, BOTH)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
  }
  const listed = await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {
    'mcp-session-id': 'anything',
  })
  expect([listed.status, listed.headers.get('mcp-session-id')]).toEqual([200, null])
  expect(listed.headers.get('content-type')).toMatch('application/json')
  expect(listed.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
})

it('rejects pages of other sites, and rebound names', async () => {
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  for (const origin of ['https://evil.example', 'null'])
    expect((await post(list, { origin })).json.code).toBe('forbidden')
  expect((await post(list, { 'sec-fetch-site': 'cross-site' })).json.code).toBe('forbidden')
  expect((await post(list, { origin: server.url })).status).toBe(200)
  const { request } = await import('node:http')
  const { port } = new URL(server.url)
  const headers = { host: 'evil.example', 'content-type': 'application/json', ...BOTH }
  const status = await new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.end(list)
  })
  expect(status).toBe(403)
})

it('answers a batch of an older client message by message', async () => {
  const { status, json } = await post(
    `[{"jsonrpc":"2.0","id":1,"method":"tools/list"},${called('{"when":"nonsense"}')}]`,
  )
  expect(status).toBe(200)
  expect(json.map(({ id }: { id: number }) => id).sort()).toEqual([1, 7])
})

it('ends the call of a client that disconnected, and loses none of its wakes', async () => {
  await server.wakeful.start()
  const leaving = new AbortController()
  const gone = fetch(`${server.url}/mcp`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { 'content-type': 'application/json', ...BOTH },
    body: called('{"wait":"50s"}', '"inbox"'),
  })
  setTimeout(() => leaving.abort(), 50)
  await expect(gone).rejects.toThrow()
  const agent = await httpAgent(server.url)
  await agent.tool('set', { delay: '100ms', wake_message: 'still here' })
  const { items } = (await agent.tool('inbox', { wait: '20s' })).structured
  expect(items).toMatchObject([{ wake_message: 'still here', tries: 1 }])
})

it('has logged no error', () => {
  expect(server.errors).toEqual([])
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

async function untouched(): Promise<boolean> {
  return (await server.call('GET', '/v1/stats')).json.total === 0
}
