import { connect, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import type { BacklogBounds } from './backlog.ts'
import { Listener } from './listener.ts'

const MIB = 1_048_576
/** More than the kernel keeps of it for one connection. */
const LARGE = 'x'.repeat(16 * MIB)

const LAX: BacklogBounds = { stallMs: 3_600_000, bytesMax: 1_024 * MIB }
const BODIES = { bytesMax: 4 * MIB, bodyBytesMax: MIB }

async function listening(backlog: BacklogBounds) {
  let requests = 0
  const fetch = async (request: Request) => {
    requests += 1
    await request.arrayBuffer().catch(() => {})
    return new Response(request.url.endsWith('/large') ? LARGE : 'small')
  }
  const listener = await Listener.listen({ host: '127.0.0.1', port: 0, fetch, backlog, arriving: BODIES })
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

it('works on one request at a time of those that one connection sends ahead', {
  timeout: 60_000,
}, async () => {
  const { ask, asked, open } = await listening({ stallMs: 3_600_000, bytesMax: 64 * MIB })
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

it('hangs up on who sends more ahead than anybody reads', { timeout: 60_000 }, async () => {
  const { ask, asked, open } = await listening({ stallMs: 3_600_000, bytesMax: 64 * MIB })
  await ask(...Array.from({ length: 1_500 }, () => '/large'))
  await until(async () => (await open()) === 0)
  expect(asked()).toBe(1)
})

it('keeps no more than so much of bodies that are on their way, and lets go of those who have sent longest', {
  timeout: 60_000,
}, async () => {
  const { ask, open } = await listening(LAX)
  const sending = async (length: string) => {
    const socket = await ask()
    socket.write(`POST /small HTTP/1.1\r\nHost: 127.0.0.1\r\n${length}\r\n\r\n`)
    return socket
  }
  const whole = `Content-Length: ${MIB}`
  const slow = await Promise.all(Array.from({ length: 3 }, () => sending(whole)))
  await pause(100)
  for (const length of ['Transfer-Encoding: chunked', 'Content-Length: 999999999999']) await sending(length)
  await until(async () => (await open()) === 4)
  await until(async () => slow[0]!.destroyed)
  const quick = await sending(whole)
  await until(async () => slow[1]!.destroyed)
  // What is whole counts no more.
  const answered = read(quick, 5)
  quick.write('x'.repeat(MIB))
  await answered
  await sending(whole)
  await pause(200)
  expect(slow[2]!.destroyed).toBe(false)
})
