import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Alarms } from '../../src/index.ts'
import { Metrics } from '../../src/server/index.ts'
import { serving } from './harness.ts'
import { openStream, StreamReader } from './stream-client.ts'
import { connected, until } from './ws-client.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const EVENTS = 100_000
const MIB = 1_048_576

const server = await serving({ server: { live: { bufferBytesMax: 256 * 1024, stallMs: 60_000 } } })
const { url, wakeful } = server

/** The memory of this process without that of the store. */
function memoryBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function fill(alarms: Alarms, count: number): Promise<void> {
  const text = 'x'.repeat(300)
  for (let n = 0; n < count; n += 1_000)
    await Promise.all(
      Array.from({ length: 1_000 }, (_, at) =>
        alarms.append({ type: 'order.paid', data: { n: n + at, text } }),
      ),
    )
}

it('buffers little for readers that read nothing during 100,000 events, and sends all of them once they read', async () => {
  const headers = { 'wakeful-owner': 'slow' }
  const ws = await connected(url, { headers })
  await ws.call('subscribe')
  const reader = new StreamReader()
  const stream = openStream(`${url}/v1/events/stream`, reader, headers)
  await stream.opened
  await until(() => reader.lastId !== null)
  ws.socket.pause()
  stream.asked.socket!.pause()
  const before = memoryBytes()
  await fill(wakeful.forTenant('default', 'slow'), EVENTS)
  expect(memoryBytes() - before).toBeLessThan(16 * MIB)
  let [seen, wrong] = [0, 0]
  ws.socket.removeAllListeners('message')
  ws.socket.on('message', (text) => {
    if (JSON.parse(String(text)).event.data.n !== seen) wrong += 1
    seen += 1
  })
  ws.socket.resume()
  stream.asked.socket!.resume()
  await until(() => seen === EVENTS)
  await until(() => reader.events.length === EVENTS)
  expect(wrong).toBe(0)
  expect(reader.events.every(({ data }, n) => JSON.parse(data).data.n === n)).toBe(true)
  stream.cut()
}, 180_000)

it('disconnects a client that does not read in time', async () => {
  const metrics = new Metrics({ version: '1', node: '1' })
  const impatient = await serving({ server: { metrics, live: { bufferBytesMax: 16 * 1024, stallMs: 300 } } })
  const alarms = impatient.wakeful.forTenant('default', '')
  const ws = await connected(impatient.url)
  await ws.call('subscribe')
  const stream = openStream(`${impatient.url}/v1/events/stream`, new StreamReader())
  await stream.opened
  ws.socket.pause()
  stream.asked.socket!.pause()
  await fill(alarms, 50_000)
  const open = async () => (await metrics.text()).body.match(/^wakeful_connections\{.*\} [1-9]/gm)
  await until(async () => (await open()) === null)
  ws.socket.resume()
  stream.asked.socket!.resume()
  // If the close frame could not be read either, the connection just ends.
  expect([1013, 1006]).toContain((await ws.closed).code)
  await stream.ended
  expect(server.errors).toEqual([])
}, 120_000)

/** Alarms of 10 kB: a list of all of them is 4 MB. */
async function manyLarge(alarms: Alarms): Promise<void> {
  await alarms.setMany(
    Array.from({ length: 400 }, () => ({
      when: { delay: '1h' },
      target: { event: true },
      payload: { text: 'x'.repeat(10_000) },
    })),
  )
}

it('keeps one answer in memory for a client that sends requests and reads nothing', async () => {
  const headers = { 'wakeful-owner': 'asks' }
  await manyLarge(wakeful.forTenant('default', 'asks'))
  const { url: open } = server
  const ws = await connected(open, { headers })
  ws.socket.pause()
  const before = memoryBytes()
  for (let n = 0; n < 45; n++) {
    const call = ['history', 'alarms'][n % 2]
    ws.say(JSON.stringify({ id: n, call, args: { limit: 400 } }))
  }
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(memoryBytes() - before).toBeLessThan(24 * MIB)
  ws.socket.resume()
  await until(() => ws.received.length === 45)
  expect(ws.received.every((text) => text.includes('"result"'))).toBe(true)
}, 120_000)

it('disconnects a client that reads no answers, even if it sends nothing more', async () => {
  const impatient = await serving({ server: { live: { bufferBytesMax: 16 * 1024, stallMs: 300 } } })
  await manyLarge(impatient.wakeful.forTenant('default', ''))
  const ws = await connected(impatient.url)
  ws.socket.pause()
  // More than the kernel buffers.
  for (let n = 0; n < 8; n++) ws.say(JSON.stringify({ id: n, call: 'history', args: { limit: 400 } }))
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  ws.socket.resume()
  expect([1013, 1006]).toContain((await ws.closed).code)
  expect(ws.received.length).toBeLessThan(8)
}, 60_000)
