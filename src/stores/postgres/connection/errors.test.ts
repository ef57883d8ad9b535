import { expect, it } from 'vitest'
import { isStoreError, storeFailure } from './errors.ts'

it.each([
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', /wants a password.*PGPASSWORD/],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string', /wants a password/],
  ['The server does not support SSL connections', /requires TLS.*sslmode=disable/],
])('says what would help where pg has no code for it: %s', (text, message) => {
  expect(storeFailure(new Error(text), 'host/app')).toMatchObject({ code: 'store_unavailable', message })
})

it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED'])(
  'says what would help where a certificate cannot be verified: %s',
  (code) => {
    expect(storeFailure(Object.assign(new Error('x'), { code }), 'host/app')).toMatchObject({
      code: 'store_unavailable',
      message: /cannot be verified.*sslrootcert/,
    })
  },
)

it('distinguishes errors of one row from those of the store: the rest go on without that row', () => {
  const codes = ['22P02', '23514', '54000', 'XX001', '40001', '53100', '57P01', 'P0001']
  const ofARow = codes.filter((code) => !isStoreError(Object.assign(new Error('x'), { code })))
  expect(ofARow).toEqual(['22P02', '23514', '54000', 'XX001'])
})

it('leaves other errors unchanged', () => {
  const thrown = new Error('boom')
  expect(storeFailure(thrown, 'host/app')).toBe(thrown)
})
