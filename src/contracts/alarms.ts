import { z } from 'zod'
import { editBody, previewBody, setBody, setByKeyBody } from './alarm-body.ts'
import { alarmWire, filterShape, pageAnswer, setWire, status } from './alarm-wire.ts'
import { cursor, limit, name, plain, since, text } from './fields.ts'
import { operation } from './operation.ts'
import { previewWire } from './preview-wire.ts'

const id = z.object({ id: plain().min(1).max(200).meta({ description: 'The alarm’s id.' }) })
const oneAlarm = { 200: { description: 'The alarm as it is now.', schema: alarmWire } }

/** Which alarms: the filters of a list. */
const filters = {
  status: z
    .enum([...status.options, 'pending'])
    .optional()
    .meta({ description: '`pending`: active or paused.' }),
  ...filterShape,
  target: text('Exactly this target: a URL, a handler’s name.', 4_096).optional(),
  q: text('Words to look for in label, message, key and subject.').optional(),
  since,
}

/** What can be done to many alarms at once. */
export const ACTIONS = ['cancel', 'pause', 'resume', 'skip', 'fire', 'retry'] as const

/** An action on one alarm that takes nothing but its id. */
const act = <const V extends string>(verb: V, summary: string, refusals: readonly 'quota_exceeded'[] = []) =>
  operation({
    method: 'POST',
    path: `/v1/alarms/{id}/${verb}`,
    chapter: 'alarms',
    rights: 'write',
    summary,
    params: id,
    body: z.strictObject({}),
    bodyOptional: true,
    ifMatch: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended', ...refusals],
  })

/** The calls about alarms. */
export const alarmOperations = {
  set: operation({
    method: 'POST',
    path: '/v1/alarms',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Set an alarm',
    description:
      'Answered when it is on disk. A known `idempotency_key` answers 200 with the first alarm and `deduped: true`; a known `key` sets that alarm again, 200.',
    body: setBody,
    idempotencyHeader: true,
    answers: {
      201: { description: 'It is set.', schema: setWire },
      200: { description: 'It was there: the same one, or set again.', schema: setWire },
    },
    refusals: ['invalid_time', 'invalid_rule', 'invalid_timezone', 'payload_too_large', 'quota_exceeded'],
  }),
  setMany: operation({
    method: 'POST',
    path: '/v1/alarms/batch',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Set up to 1,000 alarms, all or none',
    description:
      'Each item may have an `idempotency_key` of its own; the header `Idempotency-Key` is refused, as it cannot be that of all of them.',
    body: z.strictObject({ items: z.array(setBody).min(1).max(1000) }),
    idempotencyHeader: { refused: 'give each of the items an idempotency_key of its own' },
    answers: {
      201: {
        description: 'All are set, in the order they were given.',
        schema: z.object({ items: z.array(setWire) }),
      },
    },
    refusals: ['invalid_time', 'invalid_rule', 'invalid_timezone', 'payload_too_large', 'quota_exceeded'],
  }),
  setByKey: operation({
    method: 'PUT',
    path: '/v1/alarms/by-key/{key}',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Set the alarm of this key, or set it again',
    description:
      'A known `idempotency_key` answers 200 with the first alarm and `deduped: true`, and changes nothing.',
    params: z.object({ key: name('The key.') }),
    body: setByKeyBody,
    idempotencyHeader: true,
    answers: {
      201: { description: 'It is new.', schema: setWire },
      200: { description: 'It was there and is set again: active, without failures.', schema: setWire },
    },
    refusals: ['invalid_time', 'invalid_rule', 'invalid_timezone', 'payload_too_large', 'quota_exceeded'],
  }),
  getByKey: operation({
    method: 'GET',
    path: '/v1/alarms/by-key/{key}',
    chapter: 'alarms',
    rights: 'read',
    summary: 'The alarm of this key',
    params: z.object({ key: name('The key.') }),
    answers: oneAlarm,
    refusals: ['not_found'],
  }),
  list: operation({
    method: 'GET',
    path: '/v1/alarms',
    chapter: 'alarms',
    rights: 'read',
    summary: 'Your alarms, newest first',
    query: z.strictObject({
      ...filters,
      order: z.enum(['newest', 'due']).optional().meta({
        description:
          '`due`: only what has an instant to come, the next first. What is paused or has ended has none: with `pending` or no `status` it is left out, with a `status` of its own it is refused (400).',
      }),
      limit: limit(50),
      cursor: cursor.meta({
        description:
          'The `next_cursor` of the page before, with the same `order`; left out for the first page.',
      }),
    }),
    answers: pageAnswer,
    refusals: ['invalid_time'],
  }),
  get: operation({
    method: 'GET',
    path: '/v1/alarms/{id}',
    chapter: 'alarms',
    rights: 'read',
    summary: 'One alarm',
    params: id,
    answers: oneAlarm,
    refusals: ['not_found'],
  }),
  edit: operation({
    method: 'PATCH',
    path: '/v1/alarms/{id}',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Edit an alarm, or move it in time',
    params: id,
    body: editBody,
    ifMatch: true,
    answers: oneAlarm,
    refusals: [
      'not_found',
      'conflict',
      'already_ended',
      'invalid_time',
      'invalid_rule',
      'invalid_timezone',
      'payload_too_large',
      'quota_exceeded',
    ],
  }),
  cancel: operation({
    method: 'DELETE',
    path: '/v1/alarms/{id}',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Cancel an alarm',
    description:
      '`cancelled`: no delivery of it starts any more. `firing`: one is under way; nothing follows it. `ended`: it had ended before.',
    params: id,
    ifMatch: true,
    answers: {
      200: {
        description: 'What came of it.',
        schema: z.object({ outcome: z.enum(['cancelled', 'firing', 'ended']), alarm: alarmWire }),
      },
    },
    refusals: ['not_found', 'conflict'],
  }),
  pause: act('pause', 'Pause an alarm'),
  resume: act('resume', 'Resume a paused alarm'),
  skip: act('skip', 'Skip the next occurrence'),
  fire: act('fire', 'Fire it now, beside its schedule', ['quota_exceeded']),
  retry: act('retry', 'Try a failed one again now', ['quota_exceeded']),
  complete: operation({
    method: 'POST',
    path: '/v1/alarms/{id}/complete',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Report that it is done',
    params: id,
    body: z.strictObject({
      result: text('What came of it (`ok`).', 64 * 1024).optional(),
      occurrence_id: text('Which occurrence; the newest open one where nothing is said.').optional(),
    }),
    bodyOptional: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended'],
  }),
  fail: operation({
    method: 'POST',
    path: '/v1/alarms/{id}/fail',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Report that it failed',
    params: id,
    body: z.strictObject({
      reason: text('Why.', 64 * 1024).optional(),
      occurrence_id: text('Which occurrence; the newest open one where nothing is said.').optional(),
    }),
    bodyOptional: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended'],
  }),
  act: operation({
    method: 'POST',
    path: '/v1/alarms/actions',
    chapter: 'alarms',
    rights: 'write',
    summary: 'One action on all alarms that match',
    description:
      'With `dry_run` it counts and changes nothing. At most 10,000 in one call; `more` says that some are left.',
    body: z.strictObject({
      action: z.enum(ACTIONS),
      filter: z.strictObject(filters).meta({ description: 'Which; `{}` is all of yours.' }),
      dry_run: z.boolean().optional(),
    }),
    answers: {
      200: {
        description: 'How many.',
        schema: z.object({
          matched: z.int(),
          done: z.int(),
          refused: z.array(z.object({ id: z.string(), code: z.string(), detail: z.string() })).meta({
            description: 'The first 100 on which it could not be done.',
          }),
          more: z.boolean(),
        }),
      },
    },
    refusals: ['invalid_time'],
  }),
  removeSubject: operation({
    method: 'DELETE',
    path: '/v1/subjects/{subject}',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Cancel every alarm of a subject',
    params: z.object({ subject: name('The subject.') }),
    answers: { 200: { description: 'How many.', schema: z.object({ cancelled: z.int(), firing: z.int() }) } },
  }),
  reset: operation({
    method: 'POST',
    path: '/v1/reset',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Cancel every pending alarm of yours',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: { 200: { description: 'How many.', schema: z.object({ cancelled: z.int(), firing: z.int() }) } },
  }),
  preview: operation({
    method: 'POST',
    path: '/v1/preview',
    chapter: 'alarms',
    rights: 'read',
    summary: 'What a time would mean; stores nothing',
    body: previewBody,
    answers: {
      200: {
        description: 'The zone, the rule in words, and its next instants.',
        schema: previewWire,
      },
    },
    refusals: ['invalid_time', 'invalid_rule', 'invalid_timezone'],
  }),
}
