/** Receives webhooks, and prints when the last of the expected ones arrived. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

let expected = 0
const received = new Set<string>()
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    const lastAt = Date.now()
    const before = received.size
    received.add(request.headers['webhook-id'] as string)
    response.writeHead(204).end()
    // A duplicate does not count, and must not be reported as the last one again.
    if (received.size > before && received.size === expected) console.log(JSON.stringify({ lastAt }))
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
createInterface({ input: process.stdin }).on('line', (line) => {
  expected = (JSON.parse(line) as { expect: number }).expect
  received.clear()
})
