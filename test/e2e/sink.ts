import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'

/** A webhook as it arrived. */
export interface Arrived {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a sink answers: a status, headers and a body. */
export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Answers after this promise; never if it never resolves. */
  readonly after?: Promise<unknown>
}

/** A webhook receiver for tests. */
export interface Sink {
  readonly url: string
  readonly arrived: Arrived[]
  /** Resolves when this many have arrived. */
  received(count: number): Promise<readonly Arrived[]>
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Opens a receiver that answers each webhook with `answer`, on any port or on this one. */
export async function openSink(
  answer: (arrived: Arrived, index: number) => Answer = () => ({}),
  port = 0,
): Promise<Sink> {
  const arrived: Arrived[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const server = createServer(async (message, response) => {
    let body = ''
    for await (const chunk of message) body += String(chunk)
    const { method = '', url: path = '', headers } = message
    const webhook = { method, path, headers, body }
    arrived.push(webhook)
    for (const { count, resolve } of waiting) if (arrived.length >= count) resolve()
    const {
      status = 200,
      headers: answered = {},
      body: text = '',
      after,
    } = answer(webhook, arrived.length - 1)
    await after
    response.writeHead(status, answered).end(text)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    async received(count) {
      if (arrived.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }))
      return arrived
    },
  }
}
