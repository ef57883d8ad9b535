import { z } from 'zod'
import { editBody, previewBody, setBody, setByKeyBody } from './alarm-body.ts'
import { alarmWire, filterShape, pageAnswer, setWire, status } from './alarm-wire.ts'
import { cursor, limit, name, plain, since, text } from './fields.ts'
import { operation } from './operation.ts'
import { previewWire } from './preview-wire.ts'

const id = z.object({ id: plain().min(1).max(200).meta({ description: 'The alarm’s id.' }) })
const oneAlarm = { 200: { description: 'The alarm as it is now.', schema: alarmWire } }

/** The filters of a list. */
const filters = {
  status: z
    .enum([...status.options, 'pending'])
    .optional()
    .meta({ description: '`pending`: active or paused.' }),
  ...filterShape,
  target: text('The exact target: a URL or the name of a handler.', 4_096).optional(),
  q: text('Words to search for in label, message, key and subject.').optional(),
  since,
}

/** The actions on many alarms at once. */
export const ACTIONS = ['cancel', 'pause', 'resume', 'skip', 'fire', 'retry'] as const

/** An action on one alarm that needs only its id. */
const action = <const V extends string>(
  verb: V,
  summary: string,
  refusals: readonly 'quota_exceeded'[] = [],
) =>
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
      'Responds when the alarm is on disk. A known `idempotency_key` returns the first alarm with `deduped: true` (200). A known `key` replaces that alarm (200).',
    body: setBody,
    idempotencyHeader: true,
    answers: {
      201: { description: 'The alarm is set.', schema: setWire },
      200: { description: 'The alarm existed: unchanged, or replaced.', schema: setWire },
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
      'Each item may have its own `idempotency_key`. The header `Idempotency-Key` is an error, because it cannot belong to all items.',
    body: z.strictObject({ items: z.array(setBody).min(1).max(1000) }),
    idempotencyHeader: { refused: 'give each item its own idempotency_key' },
    answers: {
      201: {
        description: 'All are set, in the order of the request.',
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
    summary: 'Set the alarm with this key, or replace it',
    description:
      'A known `idempotency_key` returns the first alarm with `deduped: true` (200), and changes nothing.',
    params: z.object({ key: name('The key.') }),
    body: setByKeyBody,
    idempotencyHeader: true,
    answers: {
      201: { description: 'The alarm is new.', schema: setWire },
      200: { description: 'The alarm existed and is replaced: active, without failures.', schema: setWire },
    },
    refusals: ['invalid_time', 'invalid_rule', 'invalid_timezone', 'payload_too_large', 'quota_exceeded'],
  }),
  getByKey: operation({
    method: 'GET',
    path: '/v1/alarms/by-key/{key}',
    chapter: 'alarms',
    rights: 'read',
    summary: 'Get the alarm with this key',
    params: z.object({ key: name('The key.') }),
    answers: oneAlarm,
    refusals: ['not_found'],
  }),
  list: operation({
    method: 'GET',
    path: '/v1/alarms',
    chapter: 'alarms',
    rights: 'read',
    summary: 'List your alarms, newest first',
    query: z.strictObject({
      ...filters,
      order: z.enum(['newest', 'due']).optional().meta({
        description:
          '`due`: only alarms with an instant to come, the next first. Paused and ended alarms have none: without `status`, or with `pending`, they are left out; with their own `status` the call fails (400).',
      }),
      limit: limit(50),
      cursor: cursor.meta({
        description:
          'The `next_cursor` of the previous page, with the same `order`. Omit it for the first page.',
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
    summary: 'Get an alarm',
    params: id,
    answers: oneAlarm,
    refusals: ['not_found'],
  }),
  edit: operation({
    method: 'PATCH',
    path: '/v1/alarms/{id}',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Edit or reschedule an alarm',
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
      '`cancelled`: no further delivery starts. `firing`: a delivery is in flight, and none follows. `ended`: the alarm had ended already.',
    params: id,
    ifMatch: true,
    answers: {
      200: {
        description: 'The outcome.',
        schema: z.object({ outcome: z.enum(['cancelled', 'firing', 'ended']), alarm: alarmWire }),
      },
    },
    refusals: ['not_found', 'conflict'],
  }),
  pause: action('pause', 'Pause an alarm'),
  resume: action('resume', 'Resume a paused alarm'),
  skip: action('skip', 'Skip the next occurrence'),
  fire: action('fire', 'Fire an alarm now, in addition to its schedule', ['quota_exceeded']),
  retry: action('retry', 'Retry a failed alarm now', ['quota_exceeded']),
  complete: operation({
    method: 'POST',
    path: '/v1/alarms/{id}/complete',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Report success',
    params: id,
    body: z.strictObject({
      result: text('The result. Default: `ok`.', 64 * 1024).optional(),
      occurrence_id: text('The occurrence. Default: the newest open one.').optional(),
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
    summary: 'Report failure',
    params: id,
    body: z.strictObject({
      reason: text('The reason.', 64 * 1024).optional(),
      occurrence_id: text('The occurrence. Default: the newest open one.').optional(),
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
    summary: 'Apply an action to all matching alarms',
    description:
      'With `dry_run` it only counts. One call handles at most 10,000 alarms; `more` is true if some are left.',
    body: z.strictObject({
      action: z.enum(ACTIONS),
      filter: z.strictObject(filters).meta({ description: 'Which alarms; `{}` is all of yours.' }),
      dry_run: z.boolean().optional(),
    }),
    answers: {
      200: {
        description: 'The counts.',
        schema: z.object({
          matched: z.int(),
          done: z.int(),
          refused: z.array(z.object({ id: z.string(), code: z.string(), detail: z.string() })).meta({
            description: 'The first 100 alarms for which the action failed.',
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
    answers: {
      200: { description: 'The counts.', schema: z.object({ cancelled: z.int(), firing: z.int() }) },
    },
  }),
  reset: operation({
    method: 'POST',
    path: '/v1/reset',
    chapter: 'alarms',
    rights: 'write',
    summary: 'Cancel all your pending alarms',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: {
      200: { description: 'The counts.', schema: z.object({ cancelled: z.int(), firing: z.int() }) },
    },
  }),
  preview: operation({
    method: 'POST',
    path: '/v1/preview',
    chapter: 'alarms',
    rights: 'read',
    summary: 'Preview a time, without storing anything',
    body: previewBody,
    answers: {
      200: {
        description: 'The zone, the rule in words, and the next instants.',
        schema: previewWire,
      },
    },
    refusals: ['invalid_time', 'invalid_rule', 'invalid_timezone'],
  }),
}
