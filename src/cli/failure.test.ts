import { expect, it } from 'vitest'
import { WakefulError } from '../error.ts'
import { failureOf, failureText } from './failure.ts'

it('answers 2 where the arguments were wrong, and 1 where the work failed', () => {
  expect(failureOf(new WakefulError('invalid_time', 'no')).exitCode).toBe(2)
  expect(failureOf(new WakefulError('not_found', 'no')).exitCode).toBe(1)
  expect(failureOf(new Error('boom'))).toEqual({ code: 'internal', message: 'boom', exitCode: 1 })
})

it('says it for people and as JSON', () => {
  const failure = failureOf(new WakefulError('not_found', 'no alarm x'))
  expect(failureText(failure, false)).toBe('error: no alarm x (not_found)')
  expect(JSON.parse(failureText(failure, true))).toEqual({
    error: { code: 'not_found', message: 'no alarm x' },
  })
})

it('has words for trouble with files', () => {
  const missing = Object.assign(new Error('ENOENT: no such file, open x'), { code: 'ENOENT', path: 'x' })
  expect(failureOf(missing).message).toBe('there is no file x')
})
