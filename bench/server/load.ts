/** Calls a server over so many connections for a while, and says how many were answered, and how fast. */
import { Agent, request } from 'node:http'

interface Order {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Milliseconds between the calls of one connection; 0 is as fast as it answers. */
  readonly pauseMs: number
  /** Whether every other call reads. */
  readonly mixed: boolean
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>> | null
}

const order = JSON.parse(process.argv[2]!) as Order
const agent = new Agent({ keepAlive: true, maxSockets: order.connections })
const latencies: number[] = []
const statuses: Record<string, number> = {}
let calls = 0

function call(): Promise<void> {
  calls += 1
  const reads = order.mixed && calls % 2 === 0
  const body = reads || order.body === null ? '' : JSON.stringify({ ...order.body, label: `call ${calls}` })
  const from = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        agent,
        host: '127.0.0.1',
        port: order.port,
        method: body === '' && reads ? 'GET' : 'POST',
        path: reads ? '/v1/alarms?limit=10' : order.path,
        headers: {
          ...order.headers,
          ...(body !== '' && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      (response) => {
        response.resume()
        response.on('end', () => {
          latencies.push(performance.now() - from)
          statuses[response.statusCode!] = (statuses[response.statusCode!] ?? 0) + 1
          resolve()
        })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

const end = performance.now() + order.seconds * 1000
const from = performance.now()
await Promise.all(
  Array.from({ length: order.connections }, async () => {
    while (performance.now() < end) {
      await call()
      if (order.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, order.pauseMs))
    }
  }),
)
const tookMs = performance.now() - from
latencies.sort((a, b) => a - b)
const at = (part: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))]
console.log(
  JSON.stringify({
    perSecond: (latencies.length / tookMs) * 1000,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    statuses,
  }),
)
process.exit()
