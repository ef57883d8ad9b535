import { describe, expect, it } from 'vitest'
import { requestId } from './request.ts'

describe('the id of a request', () => {
  it.for([
    ['abc-123', 'abc-123'],
    [null, 'created'],
    ['', 'created'],
    ['a b', 'created'],
    ['a\r\nset-cookie: x', 'created'],
    ['x'.repeat(129), 'created'],
    ['wk_0123456789abcdef_x', 'created'],
  ] as const)('is, for x-request-id %j, %j', ([header, id]) => {
    expect(requestId({ get: () => header }, () => 'created')).toBe(id)
  })
})
