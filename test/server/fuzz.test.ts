import { Agent, request } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../postgres/database.ts'
import { Random } from '../random.ts'
import { endpoints } from './fuzz/document.ts'
import { type Answer, violations } from './fuzz/judge.ts'
import { type FuzzRequest, fuzzRequest, type Known } from './fuzz/request.ts'
import { caller, type Serving, serving } from './harness.ts'

/** `FUZZ_SEED=7 FUZZ_REQUESTS=20000 npx vitest run test/server/fuzz.test.ts` repeats a seed, at any length. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000)
const REQUESTS = {
  sqlite: Number(process.env.FUZZ_REQUESTS ?? 500),
  postgres: Number(process.env.FUZZ_REQUESTS ?? 100),
}
const AT_ONCE = 16
const KNOWN_MAX = 300

const database = testDatabase()
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
afterAll(() => agent.destroy())

describe.each(['sqlite', 'postgres'] as const)('generated requests on %s', (kind) => {
  it(`get only valid answers (seed ${SEED}, ${REQUESTS[kind]} per endpoint)`, {
    timeout: 3_600_000,
  }, async () => {
    const server = await serving({ store: kind === 'sqlite' ? 'sqlite::memory:' : database.url })
    await server.wakeful.start()
    const { known, authorization } = await prepared(server)
    const found = new Findings()
    let sent = 0
    const one = async (at: number) => {
      const endpoint = endpoints[at % endpoints.length]!
      // Each has its own random numbers, so that the order of answers does not affect other requests.
      const made = fuzzRequest(new Random(SEED * 1_000_003 + at), endpoint, known)
      const answer = await send(server.url, { ...made, headers: { authorization, ...made.headers } })
      sent += 1
      learn(known, answer)
      for (const wrong of violations(endpoint, answer))
        found.add(`${endpoint.name} ${wrong}`, () => `#${at} ${describeRequest(made)}`)
    }
    const total = REQUESTS[kind] * endpoints.length
    let next = 0
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < total) await one(next++)
      }),
    )
    expect(found.list()).toEqual([])
    expect(sent).toBe(total)
    expect(server.errors).toEqual([])
    expect(server.lines.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    await server.close()
  })
})

/** What was found, each kind once: repetitions add nothing. */
class Findings {
  readonly #byKind = new Map<string, { count: number; first: string }>()

  add(wrong: string, describe: () => string): void {
    const kind = wrong.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/"detail":.*/, '')
    const known = this.#byKind.get(kind)
    if (known !== undefined) known.count += 1
    else this.#byKind.set(kind, { count: 1, first: `${wrong} <- ${describe()}` })
  }

  list(): string[] {
    return [...this.#byKind.values()].map(({ count, first }) => `${count} times: ${first}`)
  }
}

function describeRequest({ method, target, headers, body }: FuzzRequest): string {
  return `${method} ${target.slice(0, 200)} ${body?.toString().slice(0, 400)} ${JSON.stringify(headers).slice(0, 200)}`
}

async function prepared({ call, url, wakeful }: Serving) {
  const { json } = await call('POST', '/v1/keys', { tenant: '*', rights: 'admin' })
  const authorization = `Bearer ${json.key}`
  const known: Known = { alarms: [], occurrences: [], keys: [], cursors: [] }
  const as = caller(url, { authorization })
  for (const delay of ['1h', '0s', '10ms'])
    for (const target of ['inbox', { event: true }])
      for (const ack of ['delivery', 'report']) {
        const set = await as('POST', '/v1/alarms', { delay, target, ack })
        known.alarms.push(set.json.id)
      }
  for (let n = 0; n < 4; n++)
    known.keys.push((await as('POST', '/v1/keys', { tenant: 'acme', rights: 'read' })).json.id)
  await wakeful.tick()
  return { known, authorization }
}

function learn({ alarms, occurrences, cursors }: Known, { status, text }: Answer): void {
  if (status >= 300) return
  remember(alarms, /"id":"([0-9a-f-]{36})"/.exec(text)?.[1])
  remember(occurrences, /"occurrence_id":"([^"\\]+)"/.exec(text)?.[1])
  remember(cursors, /"next_cursor":"([^"\\]+)"/.exec(text)?.[1])
}

function remember(list: string[], value: string | undefined): void {
  if (value === undefined || list.includes(value)) return
  if (list.length < KNOWN_MAX) list.push(value)
}

function send(url: string, { method, target, headers, body }: FuzzRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const asked = request({ agent, hostname, port, method, path: target, headers }, (answer) => {
      const { statusCode: status = 0, headers } = answer
      if (headers['content-type']?.startsWith('text/event-stream') === true) {
        // It never ends: that it started is enough.
        answer.destroy()
        resolve({ status, headers, text: '' })
        return
      }
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => resolve({ status, headers, text: Buffer.concat(chunks).toString() }))
    })
    asked.on('error', (cause) => reject(new Error(`${method} ${target.slice(0, 300)}`, { cause })))
    if (body !== null) asked.setHeader('content-length', body.length)
    asked.end(body ?? undefined)
  })
}
