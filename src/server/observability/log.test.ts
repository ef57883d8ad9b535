import { describe, expect, it } from 'vitest'
import { WakefulError } from '../../error.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import { Log, type LogOptions } from './log.ts'

function open(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const now = () => Date.UTC(2030, 0, 1)
  const log = new Log({ level: 'info', format: 'json', pid: 7, now, write, ...options })
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

const REQUEST = {
  requestId: 'r1',
  method: 'GET',
  route: '/v1/alarms/:id',
  status: 200,
  caller: null,
  thrown: null,
}
const DURATION_MS = 1.23456
const AT = '2030-01-01T00:00:00.000Z'

describe('a line of the log', () => {
  it('logs a request with its route, caller and duration', () => {
    const { log, parsed } = open()
    log.request({ ...REQUEST, caller: { tenant: 't', owner: 'o', keyId: 'k' } }, DURATION_MS)
    expect(parsed()).toEqual([
      {
        level: 'info',
        at: AT,
        pid: 7,
        type: 'request',
        request_id: 'r1',
        method: 'GET',
        route: '/v1/alarms/:id',
        status: 200,
        duration_ms: 1.235,
        tenant: 't',
        owner: 'o',
        key_id: 'k',
      },
    ])
  })

  it('logs an error with its cause, and the stack of an unexpected one', () => {
    const { log, parsed } = open()
    log.error(
      new TypeError('x is not a function', {
        cause: WakefulError.from({ code: 'conflict', reason: 'test', params: {}, message: 'because' }),
      }),
    )
    const [{ error, ...line }] = parsed() as [Record<string, unknown>]
    expect(line).toMatchObject({ level: 'error', type: 'error', message: 'x is not a function' })
    expect(error).toMatchObject({
      name: 'TypeError',
      stack: expect.stringContaining('log.test.ts') as string,
      cause: { name: 'WakefulError', code: 'conflict', message: 'because' },
    })
  })

  it('logs the same error once a second, with how many were suppressed', () => {
    let ms = 0
    const { log, parsed } = open({ now: () => ms })
    const away = () =>
      log.error(
        WakefulError.from({
          code: 'store_unavailable',
          reason: 'test',
          params: {},
          message: 'the server cannot be reached',
        }),
      )
    for (; ms < 2_500; ms += 50) away()
    log.error(new Error('another'))
    ms = -60_000
    away()
    const messages = parsed().map(({ message, left_out }) => [message, left_out])
    expect(messages).toEqual([
      ['the server cannot be reached', undefined],
      ['the server cannot be reached', 19],
      ['the server cannot be reached', 19],
      ['another', undefined],
      ['the server cannot be reached', 9],
    ])
  })

  it('says how many were suppressed in the text format too', () => {
    let ms = 0
    const { log, lines } = open({ format: 'text', timeText: () => '00:00:00', now: () => ms })
    for (ms of [0, 1, 2, 1_000]) log.error(new Error('no disk'))
    expect(lines).toEqual([
      '00:00:00  error: no disk\n',
      '00:00:00  error: no disk (and 2 times more before)\n',
    ])
  })

  it('logs every different error, however many there are', () => {
    const { log, lines } = open()
    for (let at = 0; at < 1_000; at++) log.error(new Error(`error ${at}`))
    expect(lines).toHaveLength(1_000)
  })

  it('logs who did what to whom, and when, at every level except silent', () => {
    const act = {
      by: '0123456789abcdef',
      act: 'tenant.pause',
      tenant: 'acme',
      about: { catch_up_per_second: 10 },
    }
    const { log, parsed } = open({ level: 'error' })
    log.audit(act)
    log.event('serving', 'serving')
    expect(parsed()).toEqual([
      {
        level: 'info',
        at: AT,
        pid: 7,
        type: 'audit',
        audit: true,
        by: '0123456789abcdef',
        act: 'tenant.pause',
        tenant: 'acme',
        about: { catch_up_per_second: 10 },
      },
    ])
    const silent = open({ level: 'silent' })
    silent.log.audit(act)
    silent.log.error(new Error('x'))
    expect(silent.lines).toEqual([])
  })

  it('as text, shows requests only if they failed, or at level debug', () => {
    const { log, lines } = open({ format: 'text', timeText: () => '00:00:00' })
    log.event('owner', 'alarms fire here')
    log.request(REQUEST, DURATION_MS)
    log.request({ ...REQUEST, status: 500, thrown: new Error('broken\n  in two') }, DURATION_MS)
    log.error(new Error('no disk'))
    expect(lines).toEqual([
      '00:00:00  alarms fire here\n',
      '00:00:00  GET /v1/alarms/:id 500 in 1 ms (r1): broken in two\n',
      '00:00:00  error: no disk\n',
    ])
    const debug = open({ format: 'text', level: 'debug' })
    debug.log.request(REQUEST, DURATION_MS)
    expect(debug.lines).toEqual([`${AT}  GET /v1/alarms/:id 200 in 1 ms (r1)\n`])
  })

  it('survives values with hostile getters, and endless ones', () => {
    const { log, parsed } = open()
    const trap = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    const circle: Record<string, unknown> = {}
    circle.self = circle
    log.error(trap, { trap, circle, big: 2n ** 64n, many: Array.from({ length: 1_000 }, () => 'x') })
    const [line] = parsed()
    expect(line).toMatchObject({ trap: '(cannot be logged)', big: '18446744073709551616' })
    expect(line!.many).toHaveLength(100)
  })
})

describe('secrets', () => {
  const key = 'wk_0123456789abcdef_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE'
  const hook = 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0+/c2VjcmV0c2VjcmU='
  const texts = [
    `no key ${key} here`,
    `Authorization: Bearer ${key}`,
    `headers {"authorization":"Bearer opaque-token-1","x":1}`,
    `authorization: opaque-token-2`,
    `Basic dXNlcjpwYXNzd29yZA==`,
    `cannot reach postgres://me:hunter2@db:5432/wakeful?sslmode=require`,
    `postgres://db/wakeful?user=me&password=hunter2`,
    `POST https://user:hunter2@example.com/hook failed`,
    `signed with ${hook}`,
    `GET /v1/ws?ticket=opaque-token-3&x=1`,
    `GET /v1/calendar.ics?token=opaque-token-4`,
    `a broken key wk_AbCdEfGhIjKlMnOpQrStUvWxYz`,
    JSON.stringify({ inner: JSON.stringify({ authorization: `Bearer ${key}`, cookie: 'opaque-token-5' }) }),
    ...[1_950, 3_950, 15_950].flatMap((length) => [
      `${'x'.repeat(length)} ${key}`,
      `${'x'.repeat(length)} postgres://somebody:${'hunter2'.repeat(20)}@db/wakeful`,
    ]),
  ]
  const secret = /AbCdE|hunter2|c2Vjcm|opaque-token|dXNlcjpwYXNzd29yZA/

  it.for(['json', 'text'] as const)('are in no line, wherever they come from (%s)', (format) => {
    let ms = 0
    // The same message is logged once a second.
    const now = () => (ms += 1_000)
    const { log, lines } = open({ format, level: 'debug', now })
    for (const text of texts) {
      const thrown = new Error(text, { cause: new Error(`inner: ${text}`) })
      log.error(thrown, { more: [text, { deep: text }] })
      log.error(text)
      const caller = { tenant: text, owner: text, keyId: null }
      log.request({ ...REQUEST, status: 500, thrown, caller }, DURATION_MS)
      log.audit({
        by: text,
        act: 'key.create',
        tenant: text,
        about: { text, secret: 'opaque-token', [text]: 1 },
      })
      log.event('alarm.failed', text, {
        event: { data: { error: text } },
        headers: { Cookie: 'opaque-token' },
      })
    }
    const wanted = 5 * texts.length
    expect(lines).toHaveLength(wanted)
    expect(lines.filter((line) => secret.test(line))).toEqual([])
    if (format === 'json') expect(() => lines.map((line) => JSON.parse(line) as unknown)).not.toThrow()
  })

  it('are searched for in linear time, however many seem to begin in a text', () => {
    // Hours, where every beginning is followed to the end of the text.
    const text = '://:'.repeat(1_000_000)
    expect(withoutPasswords(text)).toBe(text)
    expect(withoutPasswords(`see ${text}@host, http://a:b@c@d`)).toBe('see ://:…@host, http://a:…@d')
  })

  it('keep the public id of a key, so that it can be revoked', () => {
    const { log, parsed } = open()
    log.error(
      WakefulError.from({
        code: 'unauthorized',
        reason: 'test',
        params: {},
        message: `Bearer ${key} was revoked`,
      }),
    )
    expect(parsed()[0]).toMatchObject({ message: 'Bearer wk_0123456789abcdef_… was revoked' })
  })
})
