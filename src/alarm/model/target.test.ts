import { expect, test } from 'vitest'
import { targetKey } from './target.ts'

test.each([
  ['https://example.com/x', 'https://EXAMPLE.com.:443/x?', true],
  ['http://localhost:7593/x', 'http://localhost.:7593/x', true],
  ['http://bücher.example/x', 'http://xn--bcher-kva.example./x', true],
  ['http://[2001:db8::1]:81/x.', 'http://[2001:DB8:0::1]:81/x.', true],
  ['https://example.com/x', 'https://example.com/x.', false],
  ['https://example.com/x', 'https://example.com:8443/x', false],
  ['https://example.com/x', 'https://example.com/x?.', false],
])('%s and %s are held as one: %s', (one, other, areOne) => {
  const key = (name: string) => targetKey({ kind: 'webhook', name })
  expect(key(one) === key(other)).toBe(areOne)
})
