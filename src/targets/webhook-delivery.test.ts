import { describe, expect, test } from 'vitest'
import {
  type Alarm,
  buildAlarm,
  DEFAULT_LIMITS,
  DEFAULTS,
  firstTimer,
  type SetOptions,
} from '../alarm/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { resolveWhen } from '../time/index.ts'
import { type Delivery, DeliveryFailure, Postponed } from './targets.ts'
import { type WebhookAnswer, type WebhookRequest, WebhookTarget } from './webhook.ts'

const SETTINGS = {
  timeoutMs: 30_000,
  concurrency: 10,
  failuresMax: 5,
  openMs: 10_000,
  openMsMax: 60_000,
  patienceMs: 600_000,
  allowPrivate: false,
}
const OK: WebhookAnswer = { status: 200, retryAfter: null, body: '' }

/** A webhook target with a transport that records requests and returns prepared responses. */
function harness(answer: (request: WebhookRequest) => WebhookAnswer | Promise<WebhookAnswer> = () => OK) {
  const clock = new VirtualClock('2030-01-01T00:00:00Z')
  const sent: WebhookRequest[] = []
  const target = new WebhookTarget(
    {
      clock,
      transport: {
        async send(request) {
          sent.push(request)
          return answer(request)
        },
      },
      keys: {
        of: async (tenant) => [{ sign: (text) => `new:${tenant}:${text.length}` }, { sign: () => 'old' }],
      },
      sealer: {
        seal: (text, purpose) => `sealed ${purpose} ${btoa(text)}`,
        open: (sealed, purpose) => {
          if (!sealed.startsWith(`sealed ${purpose} `)) throw new Error('not sealed for this')
          return atob(sealed.split(' ').at(-1)!)
        },
      },
      canSign: () => true,
    },
    SETTINGS,
  )
  const request = (
    options: SetOptions = {},
    tenant = 't',
    signal = new AbortController().signal,
  ): Delivery => {
    const now = clock.now()
    const resolved = resolveWhen({ delay: '0s' }, { now, timezone: 'UTC' })
    const buildContext = {
      limits: DEFAULT_LIMITS,
      defaults: DEFAULTS,
      target: (spec: unknown) => target.parse(spec as never),
      newId: () => 'id',
    }
    const spec = { target: { webhook: 'https://example.com/hook?token=hidden' }, ...options }
    const alarm: Alarm = buildAlarm({ tenant, owner: 'o' }, resolved, spec, now, buildContext)
    const timer = { ...firstTimer(alarm, resolved), id: 1, shard: 1, version: 1, edited: false, report: null }
    return { alarm, timer, firedAt: now, signal, tx: undefined }
  }
  const deliver = (options: SetOptions = {}, tenant = 't') => target.deliver(request(options, tenant))
  const thrown = (options: SetOptions = {}, tenant = 't') =>
    deliver(options, tenant).then(
      () => null,
      (error: unknown) => error as Error,
    )
  return { clock, sent, target, request, deliver, thrown }
}

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('what is sent', () => {
  test('is the standard body with the headers of Standard Webhooks, signed with every key', async () => {
    const { sent, deliver } = harness()
    await deliver({ message: 'up', traceparent: TRACE })
    const { url, method, headers, body } = sent[0]!
    expect([url.href, method]).toEqual(['https://example.com/hook?token=hidden', 'POST'])
    expect(JSON.parse(body!)).toMatchObject({ alarm_id: 'id', wake_message: 'up' })
    const signed = `id-1-1893456000000.1893456000.${body}`
    expect(headers).toEqual({
      'user-agent': 'wakeful',
      'content-type': 'application/json',
      'webhook-id': 'id-1-1893456000000',
      'webhook-timestamp': '1893456000',
      'webhook-signature': `v1,new:t:${signed.length} v1,old`,
      traceparent: TRACE,
    })
  })

  test('has the method, the headers and the body of the user, and the headers of Wakeful', async () => {
    const { sent, deliver } = harness()
    const headers = {
      Authorization: 'Bearer x',
      'Content-Type': 'application/vnd.a+json',
      'User-Agent': 'mine',
    }
    await deliver({
      target: { webhook: 'https://example.com/', method: 'put', headers, body: { a: '{{label}}' } },
      label: 'l',
    })
    expect(sent[0]).toMatchObject({ method: 'PUT', body: '{"a":"l"}' })
    expect(sent[0]!.headers).toMatchObject({
      authorization: 'Bearer x',
      'content-type': 'application/vnd.a+json',
      'user-agent': 'mine',
    })
    expect(sent[0]!.headers).not.toHaveProperty('traceparent')
  })

  test('has no body with GET, and is plain text if the template is a string', async () => {
    const { sent, deliver } = harness()
    await deliver({ target: { webhook: 'https://example.com/', method: 'GET' } })
    expect([sent[0]!.body, sent[0]!.headers['content-type']]).toEqual([null, undefined])
    await deliver({ target: { webhook: 'https://example.com/', body: 'hello {{attempt}}' } })
    expect([sent[1]!.body, sent[1]!.headers['content-type']]).toEqual([
      'hello 1',
      'text/plain; charset=utf-8',
    ])
  })

  test('has headers that are stored sealed, and only for this URL', async () => {
    const { target, deliver, request, sent } = harness()
    const webhook = 'https://example.com/'
    const parsed = target.parse({ webhook, headers: { authorization: 'hunter2' } })
    expect(JSON.stringify(parsed)).not.toContain('hunter2')
    expect(target.parse({ webhook })).toEqual({ kind: 'webhook', name: webhook, pool: 'wakeful' })
    const moved = request()
    const alarm = { ...moved.alarm, target: { ...parsed, name: 'https://evil.example/' } }
    await expect(target.deliver({ ...moved, alarm })).rejects.toMatchObject({ final: true })
    expect(sent).toEqual([])
    await deliver()
  })
})

describe('a failed call', () => {
  test('is final if the address is refused, and retried after a network error', async () => {
    const { thrown } = harness(() => {
      throw new DeliveryFailure('the reason', { final: round++ % 2 === 0 })
    })
    let round = 0
    expect(await thrown()).toMatchObject({ name: 'DeliveryFailure', final: true, message: 'the reason' })
    expect(await thrown()).toMatchObject({ name: 'DeliveryFailure', final: false, message: 'the reason' })
  })

  test('has an error without the path, the query and the headers of the webhook', async () => {
    for (const status of [302, 400, 410, 429, 500]) {
      const { thrown } = harness(() => ({ status, retryAfter: null, body: 'echo hunter2' }))
      const target = {
        webhook: 'https://example.com/secret-path?token=hidden',
        headers: { authorization: 'hunter2' },
      }
      expect((await thrown({ target }))!.message).not.toMatch(/hunter2|hidden|secret-path/)
    }
  })
})

describe('an endpoint that fails', () => {
  const dead = () => ({ status: 503, retryAfter: null, body: null })

  test('is not called after five failures: deliveries are postponed without using attempts', async () => {
    const { thrown, sent } = harness(dead)
    for (let failures = 0; failures < 5; failures++) expect(await thrown()).toBeInstanceOf(DeliveryFailure)
    const refused = await thrown()
    expect(refused).toBeInstanceOf(Postponed)
    expect(refused).toMatchObject({
      waitMs: 10_000,
      message: expect.stringContaining('has failed 5 times in a row'),
    })
    expect(sent).toHaveLength(5)
  })

  test('fails deliveries that have waited longer than `patienceMs`, and retries them when the circuit closes', async () => {
    const { target, request, thrown, clock } = harness(dead)
    for (let failures = 0; failures < 5; failures++) await thrown()
    const old = { ...request(), firedAt: clock.now() + 600_001 }
    await expect(target.deliver(old)).rejects.toMatchObject({
      name: 'DeliveryFailure',
      final: false,
      retryAfterMs: 10_000,
    })
  })

  test('delays neither another tenant nor another origin', async () => {
    const { thrown, sent } = harness(dead)
    for (let failures = 0; failures < 6; failures++) await thrown()
    await thrown({}, 'another')
    await thrown({ target: { webhook: 'https://example.com:8443/hook' } })
    expect(sent).toHaveLength(7)
  })

  test('is the same with a trailing dot in its host', async () => {
    const { thrown, sent } = harness(dead)
    for (let failures = 0; failures < 5; failures++) await thrown()
    expect(await thrown({ target: { webhook: 'https://example.com./hook' } })).toBeInstanceOf(Postponed)
    expect(await thrown({ target: { webhook: 'https://example.com.:443/hook' } })).toBeInstanceOf(Postponed)
    expect(sent).toHaveLength(5)
  })

  test('gets one probe call, and is called again if it succeeds', async () => {
    let isDead = true
    const { thrown, sent, clock } = harness(() => (isDead ? dead() : OK))
    for (let failures = 0; failures < 5; failures++) await thrown()
    isDead = false
    await clock.advance(10_000)
    const probe = thrown()
    expect(await thrown()).toBeInstanceOf(Postponed)
    expect(await probe).toBeNull()
    expect(await thrown()).toBeNull()
    expect(sent).toHaveLength(7)
  })

  test.each([
    ['timeout', true],
    ['drain', false],
  ])('a call aborted by a %s counts as a failure: %s', async (reason, counts) => {
    const { target, request, clock } = harness(
      ({ signal }) =>
        new Promise((__, reject) =>
          signal.addEventListener('abort', () => reject(new DeliveryFailure('aborted'))),
        ),
    )
    for (let failures = 0; failures < 5; failures++) {
      const controller = new AbortController()
      const delivery = target.deliver(request({}, 't', controller.signal)).catch(() => {})
      await clock.rest()
      controller.abort(reason)
      await delivery
    }
    const next = target.deliver(request()).catch((thrown: unknown) => thrown)
    const isRefused = (await Promise.race([next, clock.rest()])) instanceof Postponed
    expect(isRefused).toBe(counts)
  })

  test.each([200, 302, 400, 404, 408, 410, 425, 429])('is not one that responds with %i', async (status) => {
    const { thrown, sent } = harness(() => ({ status, retryAfter: null, body: null }))
    for (let failures = 0; failures < 12; failures++) await thrown()
    expect(sent).toHaveLength(12)
  })
})

test('allows ten calls to an endpoint at a time, and other endpoints do not wait for them', async () => {
  const waiting: (() => void)[] = []
  const { deliver, sent, clock } = harness(
    ({ url }) =>
      new Promise((resolve) => {
        if (url.hostname === 'example.com') waiting.push(() => resolve(OK))
        else resolve(OK)
      }),
  )
  const all = Promise.all(Array.from({ length: 30 }, () => deliver()))
  await deliver({ target: { webhook: 'https://example.net/' } })
  await clock.rest()
  expect(sent.filter(({ url }) => url.hostname === 'example.com')).toHaveLength(10)
  for (let left = 30; left > 0; left--) {
    waiting.shift()!()
    await clock.rest()
    expect(waiting.length).toBeLessThanOrEqual(10)
  }
  expect(await all).toHaveLength(30)
})
