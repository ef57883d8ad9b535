import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, it } from 'vitest'
import { serving } from './harness.ts'
import { opened, raw } from './raw.ts'

const server = await serving()
const { call, url } = server
const MIB = 1_048_576
const SILENT = 1_000
const FLOOD = 20_000

afterAll(() => expect(server.errors).toEqual([]))

/** Requests are answered, whatever other clients do. */
async function assertAnswering(): Promise<void> {
  for (let n = 0; n < 20; n++) expect((await call('GET', '/v1/stats')).status).toBe(200)
}

it('disconnects clients that send headers or a body byte by byte, with a problem', {
  timeout: 90_000,
}, async () => {
  const drip = async (start: string) => {
    const socket = await opened(url)
    let text = ''
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('data', (data) => {
      text += data
    })
    socket.on('error', () => {})
    socket.write(start)
    const dripping = setInterval(() => socket.write('a'), 500)
    await closed
    clearInterval(dripping)
    return text
  }
  const head = 'POST /v1/alarms HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
  const [headers, body, chunked] = await Promise.all([
    drip(`${head}X-A: `),
    drip(`${head}Content-Length: 1000\r\n\r\n{"label":"`),
    drip(`${head}Transfer-Encoding: chunked\r\n\r\n3e8\r\n{"label":"`),
    (async () => {
      for (let n = 0; n < 10; n++) await assertAnswering()
    })(),
  ])
  for (const text of [headers, body, chunked]) {
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('"code":"invalid_request"')
  }
  expect((await call('GET', '/v1/stats')).json.total).toBe(0)
})

it('survives a thousand silent connections', async () => {
  const before = process.memoryUsage().rss
  const sockets = await Promise.all(Array.from({ length: SILENT }, () => opened(url)))
  await assertAnswering()
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB)
  for (const socket of sockets) socket.destroy()
  await assertAnswering()
})

it('survives a flood, and keeps nothing of it', { timeout: 180_000 }, async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const { hostname, port } = new URL(url)
  const one = (n: number) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: n % 2 === 0 ? `Bearer wk_${n.toString(16).padStart(16, '0')}_${'x'.repeat(43)}` : 'x',
        'wakeful-owner': `flood-${n}`,
        'x-request-id': `flood-${n}`,
      }
      const asked = request(
        { agent, hostname, port, method: 'GET', path: `/v1/alarms/${n}`, headers },
        (answer) => {
          answer.resume()
          answer.once('end', () => resolve(answer.statusCode!))
        },
      )
      asked.once('error', reject)
      asked.end()
    })
  const flood = async (from: number) => {
    let next = from
    const statuses = new Set<number>()
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (next < from + FLOOD / 2) statuses.add(await one(next++))
      }),
    )
    server.lines.length = 0
    collectGarbage()
    expect([...statuses]).toEqual([401])
    return process.memoryUsage().heapUsed
  }
  const first = await flood(0)
  const second = await flood(FLOOD / 2)
  expect(second - first).toBeLessThan(80 * MIB)
  agent.destroy()
  await assertAnswering()
})

it('rejects a broken request, and no other', async () => {
  const [bad, good] = await Promise.all([
    Promise.all(Array.from({ length: 100 }, () => raw(url, 'GET / HTTP/1.1\r\nX Y: z\r\n\r\n'))),
    Promise.all(Array.from({ length: 100 }, () => call('GET', '/v1/stats'))),
  ])
  expect(new Set(bad.map(({ status }) => status))).toEqual(new Set([400]))
  expect(new Set(good.map(({ status }) => status))).toEqual(new Set([200]))
})

/** Collects garbage first: otherwise the figure includes memory that is free. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
