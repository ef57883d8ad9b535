import { connect, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import type { HttpLimits } from './limits/index.ts'
import { Listener } from './listener.ts'

const MIB = 1_048_576
/** More than the kernel keeps of it for one connection. */
const LARGE = 'x'.repeat(16 * MIB)

const LAX: HttpLimits = {
  stallMs: 3_600_000,
  unreadBytesMax: 1_024 * MIB,
  bodiesBytesMax: 4 * MIB,
}

async function listening(limits: Partial<HttpLimits>) {
  let requests = 0
  const fetch = async (request: Request) => {
    requests += 1
    await request.arrayBuffer().catch(() => {})
    return new Response(request.url.endsWith('/large') ? LARGE : 'small')
  }
  const listener = await Listener.listen({
    host: '127.0.0.1',
    port: 0,
    fetch,
    bodyBytesMax: MIB,
    limits: { ...LAX, ...limits },
  })
  const sockets: Socket[] = []
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await listener.close(100)
  })
  /** A connection that reads nothing until it is resumed. */
  const ask = async (...paths: readonly string[]): Promise<Socket> => {
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    socket.write(paths.map(request).join(''))
    return socket
  }
  const open = () => new Promise<number>((resolve) => listener.http.getConnections((_, n) => resolve(n)))
  return { ask, open, asked: () => requests }
}

function request(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
}

/** Reads so many bytes, as slowly as is said. */
async function read(socket: Socket, bytes: number, pauseMs = 0): Promise<void> {
  let got = 0
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      got += chunk.length
      if (got >= bytes) resolve()
      else if (pauseMs > 0) {
        socket.pause()
        setTimeout(() => socket.resume(), pauseMs)
      }
    })
    socket.once('close', () => reject(new Error(`hung up on after ${got} of ${bytes} bytes`)))
  })
  socket.removeAllListeners('data')
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(20)
}

it('disconnects a client that reads nothing of an answer, but not a slow or idle one', {
  timeout: 60_000,
}, async () => {
  const { ask, open } = await listening({ stallMs: 500 })
  await Promise.all(Array.from({ length: 5 }, () => ask('/large')))
  const slow = await ask('/large')
  await read(slow, LARGE.length, 10)
  await until(async () => (await open()) === 1)
  // What it was given to read in is over with the answer.
  await pause(1_500)
  const second = read(slow, LARGE.length)
  slow.write(request('/large'))
  await second
})

it('bounds what waits for all readers, and drops those that have waited longest', {
  timeout: 60_000,
}, async () => {
  const { ask, open } = await listening({ unreadBytesMax: 64 * MIB })
  const sockets: Socket[] = []
  for (let n = 0; n < 20; n++) {
    sockets.push(await ask('/large'))
    await pause(50)
  }
  await until(async () => (await open()) < 10)
  await read(sockets.at(-1)!, LARGE.length)
  expect(await open()).toBeGreaterThanOrEqual(2)
})

it('works on one pipelined request of a connection at a time', {
  timeout: 60_000,
}, async () => {
  const { ask, asked, open } = await listening({ unreadBytesMax: 64 * MIB })
  const socket = await ask(...Array.from({ length: 50 }, () => '/large'))
  await until(async () => asked() === 1)
  await ask('/small')
  await until(async () => asked() === 2)
  await read(socket, 3 * LARGE.length)
  expect(asked()).toBeGreaterThanOrEqual(4)
  expect(asked()).toBeLessThan(10)
  // What was sent ahead is forgotten with its connection.
  socket.destroy()
  await until(async () => (await open()) === 1)
  const before = asked()
  await read(await ask('/large', '/large'), 2 * LARGE.length)
  expect(asked()).toBe(before + 2)
})

it('disconnects a client that pipelines too many requests', { timeout: 60_000 }, async () => {
  const { ask, asked, open } = await listening({ unreadBytesMax: 64 * MIB })
  await ask(...Array.from({ length: 150 }, () => '/large'))
  await until(async () => (await open()) === 0)
  expect(asked()).toBe(1)
})

it('bounds the bodies being received, and disconnects the oldest', {
  timeout: 60_000,
}, async () => {
  const { ask } = await listening({})
  const sending = async (length: string, body: string) => {
    const socket = await ask()
    socket.write(`POST /small HTTP/1.1\r\nHost: 127.0.0.1\r\n${length}\r\n\r\n${body}`)
    await pause(300)
    return socket
  }
  const most = 'x'.repeat(0.9 * MIB)
  const slow = [
    await sending(`Content-Length: ${MIB}`, most),
    await sending('Transfer-Encoding: chunked', `${MIB.toString(16)}\r\n${most}`),
    await sending('Content-Length: 999999999', most),
  ]
  // What was announced and has not come counts for nothing.
  for (let n = 0; n < 9; n++) slow.push(await sending('Content-Length: 999999', 'x'))
  await pause(500)
  expect(slow.filter(({ destroyed }) => destroyed)).toEqual([])
  const quick = await sending(`Content-Length: ${MIB}`, most)
  const last = await sending(`Content-Length: ${MIB}`, most)
  await until(async () => slow[0]!.destroyed)
  // What is whole counts no more.
  const answered = read(quick, 5)
  quick.write('x'.repeat(0.1 * MIB + 1))
  await answered
  await sending(`Content-Length: ${MIB}`, most)
  await pause(500)
  expect([slow[1]!.destroyed, last.destroyed]).toEqual([false, false])
})
