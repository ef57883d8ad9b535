import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { WakefulError } from '../../error.ts'
import { failureOf, failureText, withFile } from './failure.ts'

it('has exit code 2 for wrong arguments, and 1 for failed work', () => {
  expect(
    failureOf(WakefulError.from({ code: 'invalid_time', reason: 'test', params: {}, message: 'no' }))
      .exitCode,
  ).toBe(2)
  expect(
    failureOf(WakefulError.from({ code: 'not_found', reason: 'test', params: {}, message: 'no' })).exitCode,
  ).toBe(1)
  expect(failureOf(new Error('boom'))).toEqual({ code: 'internal', message: 'boom', exitCode: 1 })
})

it('is printed as text and as JSON', () => {
  const failure = failureOf(
    WakefulError.from({ code: 'not_found', reason: 'test', params: {}, message: 'no alarm x' }),
  )
  expect(failureText(failure, false)).toBe('error: no alarm x (not_found)')
  expect(JSON.parse(failureText(failure, true))).toEqual({
    error: { code: 'not_found', message: 'no alarm x' },
  })
})

it('describes file system errors with the name of the argument', async () => {
  const missing = await withFile('x', () => readFile('/nowhere/x')).catch((thrown: unknown) => thrown)
  expect(failureOf(missing)).toEqual({ code: 'not_found', message: 'there is no file x', exitCode: 2 })
  const folder = await withFile('/', () => readFile('/')).catch((thrown: unknown) => thrown)
  expect(failureOf(folder)).toEqual({ code: 'invalid_request', message: '/ is a directory', exitCode: 2 })
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(failureOf(full)).toMatchObject({ code: 'store_unavailable', exitCode: 1 })
})

it.each([
  ['unknown command Postgres://wakeful:s3/c@ret@host/app', 'unknown command Postgres://wakeful:…@host/app'],
  [
    'write postgres://user:password@host/x, not pg://a:ret@b',
    'write postgres://user:password@host/x, not pg://a:…@b',
  ],
  ['no postgres://host/app?password=s3cret&sslmode=x', 'no postgres://host/app?password=…&sslmode=x'],
])('hides a password: %s', (message, expected) => {
  const failure = failureOf(WakefulError.from({ code: 'not_found', reason: 'test', params: {}, message }))
  expect(failureText(failure, false)).toBe(`error: ${expected} (not_found)`)
  expect(failureText(failure, true)).not.toContain('ret')
})
