import { describe, expect, it } from 'vitest'
import { assertLocal } from './local-guard.ts'

const none = new Set<string>()
const host = '127.0.0.1:7420'

describe('a server without keys', () => {
  it.for(['forwarded', 'x-forwarded-for', 'x-real-ip'])(
    'is not opened by a proxy on this machine: %s',
    (header) => {
      const headers = new Headers({ host, [header]: '203.0.113.7' })
      expect(() => assertLocal(headers, none, none)).toThrow(/through a proxy/)
    },
  )

  it('takes what a proxy passes on by a name that is allowed', () => {
    const headers = new Headers({ host: 'wakeful.internal', 'x-forwarded-for': '10.0.0.7' })
    expect(() => assertLocal(headers, none, new Set(['wakeful.internal']))).not.toThrow()
  })
})
