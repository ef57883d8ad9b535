import { describe, expect, test } from 'vitest'
import { parseWebhook } from './webhook.ts'

const URL_OK = 'https://example.com/hook'
const read = (fields: object) => parseWebhook({ webhook: URL_OK, ...fields }, false)
const refused = (fields: object) => {
  try {
    read(fields)
  } catch (thrown) {
    expect(thrown).toMatchObject({ name: 'WakefulError', code: 'invalid_request' })
    return (thrown as Error).message
  }
  return 'accepted'
}

test('a URL alone is a POST without headers and with the standard body', () => {
  expect(read({})).toEqual({ url: URL_OK, method: 'POST', headers: null, body: undefined })
})

describe('its URL', () => {
  test.each([
    'http://example.com',
    'https://example.com:8443/a/b?c=d&e=%20',
    'https://bücher.example/é',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'HTTPS://EXAMPLE.COM/',
  ])('%s is stored as it is written', (webhook) => expect(read({ webhook }).url).toBe(webhook))

  test.each([
    [42, /must be a string/],
    ['', /https:\/\//],
    ['example.com/hook', /https:\/\//],
    ['ftp://example.com/', /https:\/\//],
    ['file:///etc/passwd', /https:\/\//],
    ['javascript:alert(1)', /https:\/\//],
    ['https:example.com', /https:\/\//],
    ['https://', /https:\/\//],
    ['https://exa mple.com/', /spaces/],
    ['https://example.com/a\nb', /control characters/],
    ['https://example.com\\@evil.example/', /backslashes/],
    ['https://user:pass@example.com/', /in headers, which are encrypted/],
    ['https://user@example.com/', /user or password/],
    ['https://example.com/#part', /fragment/],
    [`https://example.com/${'a'.repeat(2_048)}`, /At most 2048/],
    ['https://localhost/', /loopback.*WAKEFUL_ALLOW_PRIVATE_TARGETS=1/],
    ['http://169.254.169.254/latest/meta-data', /link-local/],
    ['http://0x7f.1/', /loopback/],
    ['http://2130706433/', /loopback/],
    ['http://[::ffff:10.0.0.1]/', /IPv4 within IPv6/],
  ])('%j is refused', (webhook, message) => expect(refused({ webhook })).toMatch(message))

  test('a password in it does not appear in the error', () => {
    expect(refused({ webhook: 'https://user:hunter2@example.com/' })).not.toContain('hunter2')
  })

  test('private addresses are accepted if the operator allows them', () => {
    expect(parseWebhook({ webhook: 'http://127.0.0.1:8080/' }, true).url).toBe('http://127.0.0.1:8080/')
  })
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'put'])('method %s is accepted', (method) => {
  expect(read({ method }).method).toBe(method.toUpperCase())
})

test.each(['HEAD', 'CONNECT', 'TRACE', 'OPTIONS', '', 'POST /', 7, null])(
  'method %j is refused',
  (method) => {
    expect(refused({ method })).toMatch(/one of POST, PUT, PATCH, DELETE, GET/)
  },
)

test('a GET has no body', () => expect(refused({ method: 'GET', body: {} })).toMatch(/no body/))

describe('its headers', () => {
  test('are stored with their names in lower case', () => {
    const headers = { Authorization: 'Bearer x', 'X-A': 'e\t1' }
    expect(read({ headers }).headers).toEqual({ authorization: 'Bearer x', 'x-a': 'e\t1' })
  })

  test.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'keep-alive',
    'upgrade',
    'te',
    'trailer',
    'expect',
    'webhook-id',
    'Webhook-Signature',
    'webhook-timestamp',
    'webhook-anything',
    'traceparent',
    'tracestate',
    'proxy-authorization',
    'accept-encoding',
    'content-encoding',
    'sec-fetch-mode',
  ])('%s cannot be set', (name) => {
    expect(refused({ headers: { [name]: 'x' } })).toMatch(/cannot be set/)
  })

  test.each(['a b', 'a:b', '', 'ä', 'a\r\nb', '(x)', 'x'.repeat(129), '__proto__ '])(
    '%j is not a valid name',
    (name) => {
      expect(refused({ headers: { [name]: 'x' } })).toMatch(/not a valid header name/)
    },
  )

  test.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b', '\x7f', '\u0001', 'é', '漢字', 7, null, {}])(
    '%j is not a valid value',
    (value) => {
      expect(refused({ headers: { 'x-a': value } })).toMatch(/header x-a must be/)
    },
  )

  test('a refused value does not appear in the error', () => {
    expect(refused({ headers: { authorization: 'hunter2\n' } })).not.toContain('hunter2')
  })

  test('are limited in number and size, and appear once each', () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`x-${index}`, '']))
    expect(refused({ headers: many })).toMatch(/At most 50/)
    expect(refused({ headers: { 'x-a': 'a'.repeat(16_384) } })).toMatch(/At most 16384/)
    expect(refused({ headers: { 'x-a': '1', 'X-A': '2' } })).toMatch(/twice/)
    expect(refused({ headers: ['x'] })).toMatch(/object/)
    expect(refused({ headers: null })).toMatch(/object/)
  })

  test('may have the names of properties of objects, such as constructor', () => {
    expect(read({ headers: { constructor: 'x' } }).headers).toMatchObject({ constructor: 'x' })
  })
})
