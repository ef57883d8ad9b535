import { WebSocket } from 'ws'

/** What a connection was closed with. */
export interface Closed {
  readonly code: number
  readonly reason: string
}

/** A WebSocket client for tests. */
export interface Wire {
  readonly socket: WebSocket
  /** Every message received, as text. */
  readonly received: string[]
  readonly closed: Promise<Closed>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer.
  call(call: string, args?: unknown): Promise<any>
  /** Sends a text unchanged. */
  say(text: string | Uint8Array): void
  /** The first matching message, received already or later. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer.
  until(fits: (message: any) => boolean): Promise<any>
}

let calls = 0

/** Opens a WebSocket; rejects if it does not open. */
export async function connected(
  url: string,
  options: { headers?: Record<string, string>; query?: string } = {},
): Promise<Wire> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws${options.query ?? ''}`, {
    headers: options.headers ?? {},
  })
  const received: string[] = []
  const listeners = new Set<() => void>()
  socket.on('message', (data) => {
    received.push(String(data))
    for (const listener of listeners) listener()
  })
  const closed = new Promise<Closed>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  const until: Wire['until'] = (fits) =>
    new Promise((resolve, reject) => {
      let at = 0
      const look = () => {
        for (; at < received.length; at++) {
          const message = JSON.parse(received[at]!)
          if (!fits(message)) continue
          listeners.delete(look)
          resolve(message)
          return
        }
      }
      listeners.add(look)
      look()
      void closed.then(({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`)))
    })
  return {
    socket,
    received,
    closed,
    until,
    say: (text) => socket.send(text),
    call: async (call, args) => {
      calls += 1
      const id = `c${calls}`
      socket.send(JSON.stringify({ id, call, ...(args !== undefined && { args }) }))
      return until((message) => message.id === id)
    },
  }
}

/** The status and the problem with which a server refuses to open a WebSocket. */
export function refusal(
  url: string,
  options: { headers?: Record<string, string>; path?: string } = {},
): Promise<{ status: number; code: string }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${options.path ?? '/v1/ws'}`, {
    headers: options.headers ?? {},
  })
  return new Promise((resolve, reject) => {
    socket.on('error', () => {})
    socket.once('open', () => reject(new Error('it opened')))
    socket.once('unexpected-response', (_request, response) => {
      let text = ''
      response.on('data', (piece) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode!, code: JSON.parse(text).code }))
    })
  })
}

/** Waits until a condition becomes true, as long as a busy machine may need. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + UNTIL_MS_MAX
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`not true after ${UNTIL_MS_MAX} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const UNTIL_MS_MAX = 120_000
