/** Receives wakes, and says when the last of those it was told to expect has come. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

let [expected, came, firstAt, lastAt] = [0, 0, 0, 0]
const seen = new Set<string>()
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    const now = Date.now()
    const id = request.headers['webhook-id'] as string
    if (!seen.has(id)) {
      seen.add(id)
      came += 1
      if (came === 1) firstAt = now
      lastAt = now
    }
    response.writeHead(204).end()
    if (came === expected) console.log(JSON.stringify({ came, firstAt, lastAt }))
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
createInterface({ input: process.stdin }).on('line', (text) => {
  expected = (JSON.parse(text) as { expect: number }).expect
  came = 0
  seen.clear()
})
