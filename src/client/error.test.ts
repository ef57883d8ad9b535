import { expect, it } from 'vitest'
import { errorOf } from './error.ts'

const answer = (problem: object) =>
  errorOf(400, JSON.stringify({ code: 'invalid_request', detail: '', ...problem }), 'http://alarms.test')

it('names an unknown option as the caller wrote it', () => {
  const params = { name: 'max_failure', fields: ['max_failures', 'wake_message'], other: 'max_failures' }
  const text = 'Unknown option "maxFailure". Did you mean `maxFailures`? Known: `maxFailures`, `message`.'
  expect(answer({ reason: 'field.unknown', params }).message).toBe(text)
  const unknown = { reason: 'field.unknown', params, field: 'items[1].max_failure' }
  const several = answer({
    reason: 'request.several_errors',
    params: { count: 2 },
    errors: [unknown, unknown],
  })
  expect(several.errors?.map(({ params: { name }, field }) => [name, field])).toEqual([
    ['maxFailure', 'items[1]'],
    ['maxFailure', 'items[1]'],
  ])
})

it('keeps the text of the server for a reason whose text it does not load', () => {
  const error = answer({ reason: 'quota.min_interval', params: { min: '1h' }, detail: 'Too often.' })
  expect(error).toMatchObject({
    code: 'invalid_request',
    reason: 'quota.min_interval',
    message: 'Too often.',
  })
  expect(error.params).toEqual({ min: '1h' })
})
