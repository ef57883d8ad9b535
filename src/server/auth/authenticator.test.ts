import { describe, expect, it } from 'vitest'
import { assertLocal } from './authenticator.ts'

const none = new Set<string>()
const host = '127.0.0.1:7420'

describe('a server without keys', () => {
  it.for([
    'forwarded',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-server',
    'x-forwarded-port',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
  ])('is not opened by a proxy on this machine: %s', (header) => {
    const headers = new Headers({ host, [header]: '203.0.113.7' })
    expect(() => assertLocal(headers, none, none)).toThrow(/through a proxy/)
  })

  it('is not opened by an embedded request of another page, even on another port of this machine', () => {
    const from = (site: string) => () =>
      assertLocal(new Headers({ host, 'sec-fetch-site': site }), none, none)
    for (const site of ['cross-site', 'same-site', 'florp']) expect(from(site)).toThrow(/may not call/)
    for (const site of ['same-origin', 'none']) expect(from(site)).not.toThrow()
  })

  it('accepts proxied requests for an allowed host name', () => {
    const headers = new Headers({ host: 'wakeful.internal', 'x-forwarded-for': '10.0.0.7' })
    expect(() => assertLocal(headers, none, new Set(['wakeful.internal']))).not.toThrow()
  })
})
