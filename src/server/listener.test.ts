import { connect, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import type { BacklogBounds } from './backlog.ts'
import { Listener } from './listener.ts'

const MIB = 1_048_576
/** More than the kernel keeps of it for one connection. */
const LARGE = 'x'.repeat(16 * MIB)

async function listening(backlog: BacklogBounds) {
  const fetch = async (request: Request) => new Response(request.url.endsWith('/large') ? LARGE : 'small')
  const listener = await Listener.listen({ host: '127.0.0.1', port: 0, handle: () => false, fetch, backlog })
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
  return { ask, open }
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

it('hangs up on who takes nothing of an answer, and on nobody who takes it slowly or is quiet', {
  timeout: 60_000,
}, async () => {
  const { ask, open } = await listening({ stallMs: 500, bytesMax: 1_024 * MIB })
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

it('holds no more than so much for all, and lets go of those who have waited longest', {
  timeout: 60_000,
}, async () => {
  const { ask, open } = await listening({ stallMs: 3_600_000, bytesMax: 64 * MIB })
  const sockets: Socket[] = []
  for (let n = 0; n < 20; n++) {
    sockets.push(await ask('/large'))
    await pause(50)
  }
  await until(async () => (await open()) < 10)
  await read(sockets.at(-1)!, LARGE.length)
  expect(await open()).toBeGreaterThanOrEqual(2)
})

it('holds no more for one who asks on and on over one connection', { timeout: 60_000 }, async () => {
  const { ask, open } = await listening({ stallMs: 3_600_000, bytesMax: 64 * MIB })
  await ask(...Array.from({ length: 50 }, () => '/large'))
  await until(async () => (await open()) === 0)
  // And what it held counts for nobody else.
  await read(await ask('/large', '/large', '/large'), 3 * LARGE.length)
})
