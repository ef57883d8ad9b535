import { expect, it } from 'vitest'
import { storeFailure } from './failure.ts'

it.each([
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', /wants a password.*PGPASSWORD/],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string', /wants a password/],
  ['The server does not support SSL connections', /has no TLS.*sslmode=disable/],
  ['self-signed certificate', /cannot be verified.*sslrootcert/],
  ["Hostname/IP does not match certificate's altnames: Host: x.", /cannot be verified/],
])('says what would help where pg has no code for it: %s', (text, message) => {
  expect(storeFailure(new Error(text), 'host/app')).toMatchObject({ code: 'store_unavailable', message })
})

it('leaves an error alone that is nobody’s', () => {
  const thrown = new Error('boom')
  expect(storeFailure(thrown, 'host/app')).toBe(thrown)
})
