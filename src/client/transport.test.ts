import { expect, it } from 'vitest'
import { connect } from './connect.ts'

const KEY = 'wk_0123456789abcdef_secretsecretsecretsecretsecretsecretsecretsecr'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

type Reply = Response | Error | ((seen: Seen) => Response)

/** A client whose calls are answered from a list, and what it called. */
function answered(replies: Reply[], options = {}) {
  const seen: Seen[] = []
  const fetch = async (url: string, init: RequestInit) => {
    const { method = 'GET', headers, body } = init
    seen.push({ method, url, headers: headers as Record<string, string>, body: body as string | undefined })
    const reply = replies.shift()
    if (reply === undefined) throw new Error('no more was expected')
    if (reply instanceof Error) throw reply
    return typeof reply === 'function' ? reply(seen.at(-1)!) : reply
  }
  return { alarms: connect('http://alarms.test/', { key: KEY, fetch, ...options }), seen }
}

const ok = (text: string, status = 200) => new Response(text, { status })
const problem = (status: number, code: string, detail: string, headers = {}, data = {}) =>
  new Response(JSON.stringify({ code, detail, status, ...data }), { status, headers })
const broken = () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })
const later = (status: number) => problem(status, 'store_unavailable', 'busy', { 'retry-after': '0' })
const alarm = (more = '') =>
  `{"id":"a","label":"","kind":"once","timezone":"UTC","wake_message":"","status":"active","max_failures":5,"failure_count":0,"created_at":"2030-01-01T00:00:00.000Z","fire_at":"2031-01-01T00:00:00.000Z","correlation_id":"a","target":"event","ack":"delivery","backoff":{"base_ms":5000,"cap_ms":3600000},"completion_timeout":"5m","created_via":"rest","updated_at":"2030-01-01T00:00:00.000Z","registered_at":"2030-01-01T00:00:00.000Z"${more}}`

it('retries reads, upserts by key, cancels and sets with an idempotency key', async () => {
  const target = { event: true }
  const cases = [
    ['GET', (alarms: ReturnType<typeof connect>) => alarms.get('a'), alarm()],
    ['PUT', (alarms) => alarms.set({ delay: '1h' }, { key: 'k', target }), alarm()],
    ['DELETE', (alarms) => alarms.cancel('a'), `{"outcome":"cancelled","alarm":${alarm()}}`],
    ['POST', (alarms) => alarms.set({ delay: '1h' }, { idempotencyKey: 'i', target }), alarm()],
    [
      'POST',
      (alarms) => alarms.setMany([{ when: 'now', idempotencyKey: 'i', target }]),
      `{"items":[${alarm()}]}`,
    ],
  ] as const satisfies readonly [string, (alarms: ReturnType<typeof connect>) => Promise<unknown>, string][]
  for (const [method, call, text] of cases) {
    const { alarms, seen } = answered([later(503), broken(), ok(text)])
    await call(alarms)
    expect(seen.map((each) => each.method)).toEqual([method, method, method])
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1)
  }
})

it('does not retry a write that is not safe to repeat, and says that its effect is unknown', async () => {
  const target = { event: true }
  for (const call of [
    (alarms: ReturnType<typeof connect>) => alarms.set({ delay: '1h' }, { target }),
    (alarms: ReturnType<typeof connect>) =>
      alarms.setMany([
        { when: 'now', target },
        { when: 'now', idempotencyKey: 'i', target },
      ]),
    (alarms: ReturnType<typeof connect>) => alarms.fireNow('a'),
    (alarms: ReturnType<typeof connect>) => alarms.append({ type: 'order.paid' }),
  ]) {
    const { alarms, seen } = answered([broken()])
    await expect(call(alarms)).rejects.toThrow(
      'No answer from http://alarms.test (fetch failed: ECONNRESET). It is unknown whether the call took effect. Use `idempotencyKey` to make it safe to repeat.',
    )
    expect(seen).toHaveLength(1)
  }
})

it('retries a call whose response broke off, if that is safe', async () => {
  const torn = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"tot'))
          controller.error(broken())
        },
      }),
    )
  const read = answered([torn(), ok('{"total":3}')])
  expect(await read.alarms.stats()).toEqual({ total: 3 })
  const written = answered([torn()])
  await expect(written.alarms.fireNow('a')).rejects.toThrow(
    'No answer from http://alarms.test (fetch failed: ECONNRESET). It is unknown whether the call took effect. Use `idempotencyKey` to make it safe to repeat.',
  )
})

it('gives up after the last attempt, and at once on permanent errors', async () => {
  const away = answered([broken(), broken()], { retries: 1 })
  await expect(away.alarms.stats()).rejects.toMatchObject({ code: 'store_unavailable' })
  const wrong = answered([problem(409, 'conflict', 'it has changed')])
  await expect(wrong.alarms.cancel('a')).rejects.toMatchObject({
    code: 'conflict',
    message: 'it has changed',
  })
  const patient = answered([problem(429, 'quota_exceeded', 'too many', { 'retry-after': '3600' })])
  await expect(patient.alarms.stats()).rejects.toMatchObject({ code: 'quota_exceeded' })
})

it('ends an attempt at its timeout, and every call when the signal is aborted', async () => {
  const never = (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_, reject) => {
      signal!.addEventListener('abort', () => reject(signal!.reason as Error))
    })
  const slow = connect('http://alarms.test', { fetch: never, timeoutMs: 10, retries: 0 })
  await expect(slow.stats()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'No answer from http://alarms.test (timed out after 10 ms).',
  })
  const abort = new AbortController()
  const asked = slow.with({ timeoutMs: 60_000, retries: 5, signal: abort.signal }).stats()
  abort.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
})

it('has no key in any error', async () => {
  const echo = answered([problem(401, 'unauthorized', `the key ${KEY} is unknown`)])
  await expect(echo.alarms.stats()).rejects.toThrow('the key wk_… is unknown')
  const leak = answered([new TypeError(`cannot send Bearer ${KEY}`)], { retries: 0 })
  const thrown = await leak.alarms.stats().catch((error: unknown) => error)
  expect(String(thrown)).not.toContain('secret')
  expect(() => connect('http://alarms.test', { key: `${KEY}\r\nx: y` })).toThrow(
    /^The key is malformed(?!.*secret)/,
  )
  expect(() => connect(`http://me:${KEY}@alarms.test`)).toThrow(/^`url` contains(?!.*secret)/)
})

it('rejects invalid URLs, names and numbers', () => {
  expect(() => connect('alarms.test')).toThrow('must be the URL of a server, such as http://127.0.0.1:7420')
  expect(() => connect('sqlite:alarms.db')).toThrow('http:// or https://, not sqlite:')
  expect(() => connect('http://alarms.test?x=1')).toThrow('Leave out ? and #')
  for (const owner of ['\ud800', 'a\0'])
    expect(() => connect('http://alarms.test', { owner })).toThrow('`owner` must be a string')
  expect(() => connect('http://alarms.test', { retries: -1 })).toThrow(
    '`retries` must be a whole number of at least 0',
  )
})

it('sends tenant and owner, encodes path segments, and keeps the path of the URL', async () => {
  const { seen, alarms } = answered([ok(alarm()), ok(alarm())])
  const theirs = connect('https://alarms.test/base/', {
    fetch: async (url, init) => {
      seen.push({ method: 'GET', url, headers: init.headers as Record<string, string>, body: undefined })
      return ok(alarm())
    },
    tenant: 'acme',
    owner: 'did:matrix:@a:b:fp',
  })
  const found = await theirs.getByKey('a/b c?d')
  expect(found).toMatchObject({ tenant: 'acme', owner: 'did:matrix:@a:b:fp' })
  expect(seen[0]!.url).toBe('https://alarms.test/base/v1/alarms/by-key/a%2Fb%20c%3Fd')
  expect(seen[0]!.headers).toMatchObject({ 'wakeful-tenant': 'acme', 'wakeful-owner': 'did:matrix:@a:b:fp' })
  await alarms.get('a')
  expect(seen[1]!.headers).toMatchObject({ authorization: `Bearer ${KEY}` })
  for (const id of ['', '.', '..', '\ud800', 'a\0']) await expect(alarms.get(id)).rejects.toThrow(/^`id` /)
})

it('recognises a server that is not Wakeful', async () => {
  const page = '<html>hello</html>'
  const noCall = { reason: 'request.no_such_call', params: { call: 'GET /x' } }
  const { alarms } = answered([ok(page), ok(page, 404), problem(404, 'not_found', 'no call', {}, noCall)])
  await expect(alarms.get('a')).rejects.toThrow('is not JSON. Check that it is a Wakeful server.')
  await expect(alarms.get('a')).rejects.toThrow('answered 404, but not as a Wakeful server does')
  await expect(alarms.get('a')).rejects.toThrow(
    'There is no call GET /x at http://alarms.test. Check the address.',
  )
})

it('rebuilds an error from its data, with the text of the library', async () => {
  const data = {
    reason: 'field.too_long',
    params: { bytes: 600, max: 512 },
    field: 'items[1].idempotency_key',
  }
  const { alarms } = answered([
    problem(400, 'invalid_request', 'as the wire says it', {}, data),
    problem(400, 'brand_new', 'hm', {}, { reason: 'brand.new', params: { a: 1 } }),
  ])
  await expect(alarms.stats()).rejects.toMatchObject({
    code: 'invalid_request',
    field: 'items[1].idempotencyKey',
    reason: 'field.too_long',
    params: { bytes: 600, max: 512 },
    message: '`items[1].idempotencyKey` is 600 bytes long. At most 512 are allowed.',
  })
  await expect(alarms.stats()).rejects.toMatchObject({
    code: 'invalid_request',
    reason: 'brand.new',
    params: { a: 1 },
    message: 'hm',
  })
})
