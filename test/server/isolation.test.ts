import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Operation, type OperationName, operations } from '../../src/contracts/index.ts'
import { testDatabase } from '../postgres/database.ts'
import { type Serving, serving } from './harness.ts'
import { type Ask, BY_CURSOR, CASES, type Ids, TOOL_CASES } from './isolation/cases.ts'
import { ATTACKERS, type Attacker, MARK, newcomer, settled, unknownIds } from './isolation/people.ts'
import { type Look, postgresLook, sqliteLook, theirs } from './isolation/rows.ts'
import { keysOf } from './keys-of.ts'
import { httpAgent } from './mcp/agents.ts'
import { connected } from './ws-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-isolation-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const database = testDatabase()
const STREAM_MS = 100
/** The calls about what the owners of a tenant share. */
const SHARED = /^listKeys$|TenantTarget$|Calendars?$/

describe.each(['sqlite', 'postgres'])('what belongs to another owner, on %s', (kind) => {
  let [server, look, looked]: [Serving, Look, number] = [undefined!, undefined!, 0]
  let [foreignTenant, foreignOwner, unknown]: Ids[] = []

  beforeAll(async () => {
    const file = join(folder, 'alarms.db')
    server = await serving({ store: kind === 'sqlite' ? `sqlite:${file}` : database.url })
    look = kind === 'sqlite' ? sqliteLook(file) : postgresLook(database.client)
    foreignTenant = await settled(server, 'globex', 'ann')
    // The attackers belong to the same tenant, so they try another one.
    foreignOwner = { ...(await settled(server, 'acme', 'bob')), tenant: 'globex' }
    unknown = unknownIds(foreignOwner)
  })
  afterAll(() => server.close())

  /** Asks for things of others as three newcomers: all must get the same answer. */
  async function alike(
    attacker: Attacker,
    name: OperationName,
    cases: typeof CASES | typeof BY_CURSOR,
    call: Caller,
  ) {
    const answers: unknown[] = []
    // A platform's admin manages the keys of its tenant, bob's included.
    const isManaged = attacker === 'platform' && MANAGED.includes(name)
    for (const ids of [foreignTenant!, isManaged ? unknown! : foreignOwner!, unknown!]) {
      looked += 1
      const owner = `eve${looked}`
      const { headers, id } = await newcomer(server, attacker, owner)
      const answer = await call(server.url, name, cases[name]!(ids), headers)
      const clean = normal(answer, { ...ids, owner, id })
      expect(clean.text, `${attacker} ${name} is shown what is another’s`).not.toMatch(MARK)
      answers.push(clean)
    }
    expect(answers[0], `${attacker} ${name}: a foreign tenant’s is not answered like an unknown one`).toEqual(
      answers[2],
    )
    expect(answers[1], `${attacker} ${name}: a foreign owner’s is not answered like an unknown one`).toEqual(
      answers[2],
    )
  }

  it.each(ATTACKERS)(
    'looks unknown to a %s over REST and WebSocket, and does not change',
    async (attacker) => {
      const before = theirs(await look())
      expect(Object.values(before).flat().length).toBeGreaterThan(20)
      for (const name of Object.keys(operations) as OperationName[]) {
        // A platform sees what its tenant shares, which earlier rounds change.
        if (attacker === 'platform' && SHARED.test(name)) continue
        await alike(attacker, name, CASES, overRest)
        await alike(attacker, name, CASES, overWs)
        if (name in BY_CURSOR) await alike(attacker, name, BY_CURSOR, overRest)
      }
      expect(theirs(await look())).toEqual(before)
    },
  )

  it.each(['reader', 'writer', 'platform'] as const)(
    'looks unknown to the agent of a %s over MCP',
    async (attacker) => {
      const before = theirs(await look())
      for (const [tool, cases] of Object.entries(TOOL_CASES))
        for (const argsOf of cases) {
          const answers: unknown[] = []
          for (const ids of [foreignTenant!, foreignOwner!, unknown!]) {
            looked += 1
            const owner = `eve${looked}`
            const { headers } = await newcomer(server, attacker, owner)
            const { client } = await httpAgent(server.url, headers)
            const answer = await client.callTool({ name: tool, arguments: argsOf(ids) })
            const known = (await client.listTools()).tools.map(({ name }) => name)
            expect(known.sort()).toEqual(Object.keys(TOOL_CASES).sort())
            const clean = normal({ status: 0, headers: {}, text: JSON.stringify(answer) }, { ...ids, owner })
            expect(clean.text, `${attacker} ${tool}`).not.toMatch(MARK)
            answers.push(clean.text.replace(/\b(?:at )?\d\d:\d\d(?::\d\d)?(?:\.\d+)?\b/g, 'MOMENT'))
            await client.close()
          }
          expect(answers[0], `${attacker} ${tool}: a foreign tenant’s`).toEqual(answers[2])
          expect(answers[1], `${attacker} ${tool}: a foreign owner’s`).toEqual(answers[2])
        }
      expect(theirs(await look())).toEqual(before)
    },
  )

  it('is not reached by a key that names another tenant or owner', async () => {
    const before = theirs(await look())
    const { headers } = await newcomer(server, 'writer', 'mallory')
    for (const name of Object.keys(operations) as OperationName[])
      for (const more of [{ 'wakeful-tenant': 'globex' }, { 'wakeful-owner': 'bob' }] as Record<
        string,
        string
      >[]) {
        const { status, text } = await overRest(server.url, name, CASES[name](foreignOwner!), {
          ...headers,
          ...more,
        })
        expect([name, status, JSON.parse(text).code]).toEqual([name, 403, 'forbidden'])
      }
    expect(theirs(await look())).toEqual(before)
  })

  it('rejects revoked, expired and unknown keys with the same answer', async () => {
    const revoked = await newcomer(server, 'platform', 'bob')
    await revoked.revoke()
    const holder = await newcomer(server, 'platform', 'bob')
    const expired = await keysOf(server.wakeful).keys('acme', 'bob', 'admin', -1_000)
    const before = theirs(await look())
    // One key in 1,024 ends in AA already.
    const wrong = `${holder.key.slice(0, -2)}${holder.key.endsWith('AA') ? 'BA' : 'AA'}`
    for (const name of Object.keys(operations) as OperationName[]) {
      const answers = []
      for (const key of [
        revoked.key,
        expired.key,
        wrong,
        `wk_${'0'.repeat(16)}_${'x'.repeat(43)}`,
        'nonsense',
      ])
        answers.push(
          normal(
            await overRest(server.url, name, CASES[name](foreignOwner!), { authorization: `Bearer ${key}` }),
            {},
          ),
        )
      expect(
        answers.map(({ status }) => status),
        name,
      ).toEqual([401, 401, 401, 401, 401])
      expect(new Set(answers.map((each) => JSON.stringify(each))).size, name).toBe(1)
    }
    expect(theirs(await look())).toEqual(before)
  })

  it('is in no list of keys, and revealed by no cursor', async () => {
    const { headers, id } = await newcomer(server, 'admin', 'paul')
    const seen: string[] = []
    let cursor = ''
    while (seen.length < 3) {
      const { text } = await overRest(server.url, 'listKeys', { query: { limit: '1', cursor } }, headers)
      const page = JSON.parse(text)
      seen.push(...page.items.map((key: { id: string }) => key.id))
      if (page.next_cursor === null) break
      cursor = page.next_cursor
      expect(cursor).toBe(id)
    }
    expect(seen).toEqual([id])
    const platform = await newcomer(server, 'platform', 'paul')
    const { text } = await overRest(server.url, 'listKeys', { query: { limit: '500' } }, platform.headers)
    const tenants = JSON.parse(text).items.map((key: { tenant: string }) => key.tenant)
    expect(new Set(tenants)).toEqual(new Set(['acme']))
  })

  it('needs only its secret address: a token opens one calendar and nothing else', async () => {
    for (const name of Object.keys(operations) as OperationName[]) {
      if (name === 'getCalendarFeed') continue
      const { status } = await overRest(server.url, name, {
        ...CASES[name](foreignOwner!),
        query: { token: foreignOwner!.token },
      })
      expect([name, status]).toEqual([name, 401])
    }
    const own = await overRest(server.url, 'getCalendarFeed', { query: { token: foreignOwner!.token } })
    expect(own.text).toContain(foreignOwner!.label)
    expect(own.text).not.toContain(foreignTenant!.label)
  })

  it('logged no errors', () => expect(server.errors).toEqual([]))
})

const MANAGED: readonly OperationName[] = ['rotateKey', 'revokeKey']

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

type Caller = (
  url: string,
  name: OperationName,
  ask: Ask,
  headers?: Record<string, string>,
) => Promise<Answered>

const overRest: Caller = async (url, name, { params = {}, query = {}, body }, headers = {}) => {
  const { method, path, body: hasBody }: Operation = operations[name]
  const at = path.replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(params[param]!))
  const search = new URLSearchParams(query).toString()
  const stop = new AbortController()
  const response = await fetch(`${url}${at}${search && `?${search}`}`, {
    method,
    signal: stop.signal,
    headers: { ...headers, ...(hasBody !== undefined && { 'content-type': 'application/json' }) },
    ...(hasBody !== undefined && { body: JSON.stringify(body ?? {}) }),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const text = isStream ? await firstOf(response, stop) : await response.text()
  return { status: response.status, headers: Object.fromEntries(response.headers), text }
}

/** The first part of a stream: the past events, if there are any. */
async function firstOf(response: Response, stop: AbortController): Promise<string> {
  let text = ''
  setTimeout(() => stop.abort(), STREAM_MS)
  try {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) text += piece
  } catch {
    // The test closed the connection.
  }
  return text
}

const overWs: Caller = async (url, name, { params, query, body }, headers = {}) => {
  const wire = await connected(url, { headers })
  const call = { list: 'alarms', stream: 'subscribe' }[name as string] ?? name
  const answer = await wire.call(call, { ...params, ...query, ...body })
  const pushed = name === 'stream' ? await wire.call('count') : null
  wire.socket.terminate()
  const { status = 200 } = answer.error ?? {}
  return {
    status,
    headers: {},
    text: JSON.stringify([answer.result ?? answer.error, pushed?.result, wire.received.length]),
  }
}

/** An answer without what may differ: ids of the request, new ids, times, and request ids. */
function normal(
  { status, headers, text }: Answered,
  ids: object,
): { status: number; headers: object; text: string } {
  const { date: _, 'x-request-id': __, 'content-length': ___, etag, ...rest } = headers
  let clean = text
  // The longest first: one may be part of another.
  for (const id of (Object.values(ids) as string[]).sort((a, b) => b.length - a.length))
    if (id !== '') clean = clean.replaceAll(id, 'ID').replaceAll(encodeURIComponent(id), 'ID')
  clean = clean
    .replaceAll('acme', 'ID')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'MOMENT')
    .replace(/\b(?:wk|wf|wt|whsec)_[\w+/=-]+/g, 'SECRET')
    .replace(/"(?:id|created_by|cursor|next_cursor)":"[\w.=-]+"/g, 'ID')
  return { status, headers: { ...rest, etag: etag !== undefined }, text: clean }
}
