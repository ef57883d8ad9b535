/** Calls a server over several connections for a while, and prints how many calls were answered, and how fast. */
import { Agent, request } from 'node:http'
import { perSecond, quantile } from '../statistics.ts'

/** What to call, and how often. */
export interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Milliseconds between the calls of one connection; with 0, the next call follows the answer. */
  readonly pauseMs: number
  /** Whether every other call is a read. */
  readonly mixed: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** The result: latencies in milliseconds, and answers by status. */
export interface LoadResult {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly statuses: Readonly<Record<string, number>>
}

const options = JSON.parse(process.argv[2]!) as LoadOptions
const agent = new Agent({ keepAlive: true, maxSockets: options.connections })
const latencies: number[] = []
const statuses: Record<string, number> = {}
let calls = 0

function call(): Promise<void> {
  calls += 1
  const isRead = options.mixed && calls % 2 === 0
  const body = isRead ? '' : JSON.stringify({ ...options.body, label: `call ${calls}` })
  const headers = isRead
    ? {}
    : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: '127.0.0.1',
        port: options.port,
        method: isRead ? 'GET' : 'POST',
        path: isRead ? '/v1/alarms?limit=10' : '/v1/alarms',
        headers: { connection: 'keep-alive', ...headers },
      },
      (response) => {
        response.resume()
        response.on('end', () => {
          latencies.push(performance.now() - startedAt)
          const status = response.statusCode!
          statuses[status] = (statuses[status] ?? 0) + 1
          resolve()
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const startedAt = performance.now()
const end = startedAt + options.seconds * 1000
await Promise.all(
  Array.from({ length: options.connections }, async () => {
    while (performance.now() < end) {
      await call()
      if (options.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, options.pauseMs))
    }
  }),
)
const rate = perSecond(latencies.length, startedAt)
latencies.sort((a, b) => a - b)
const result: LoadResult = {
  perSecond: rate,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
  max: latencies.at(-1)!,
  statuses,
}
console.log(JSON.stringify(result))
process.exit()
