import { expect, it } from 'vitest'
import { rawJson } from '../../../src/index.ts'
import { remoteTools } from '../../../src/server/mcp/index.ts'
import { serving } from '../harness.ts'

const server = await serving()
const signal = new AbortController().signal

it('passes payloads on byte for byte in both directions', async () => {
  const tools = remoteTools({ url: `${server.url}/`, headers: { 'wakeful-owner': 'far' }, zone: 'UTC' })
  const payload = '{"n":9007199254740993,"10":1,"9":[1.10,"é"]}'
  const set = await tools.call('set', { delay: '1h', payload: rawJson(payload) }, { signal })
  const text = JSON.stringify(set?.structuredContent)
  expect(text).toContain('9007199254740993')
  expect(set?.content[1]).toMatchObject({ text: expect.stringContaining(`"payload":${payload}`) })
  expect(await tools.call('nonsense', {}, { signal })).toBeNull()
})

it('reports a URL that is not a Wakeful server', async () => {
  const { createServer } = await import('node:http')
  const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const tools = remoteTools({ url: `http://127.0.0.1:${port}`, headers: {}, zone: 'UTC' })
  const answer = await tools.call('list', {}, { signal })
  expect(answer).toMatchObject({ isError: true })
  expect(answer?.content[0]).toMatchObject({
    text: expect.stringMatching(/^store_unavailable: .*Check that it is a Wakeful server/),
  })
  await expect(tools.list()).rejects.toThrow('Check that it is a Wakeful server')
  other.close()
})
