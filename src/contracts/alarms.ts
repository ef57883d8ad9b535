import { z } from 'zod'
import { DEFAULT_LIMITS } from '../alarm/index.ts'
import { LIST_STATUSES } from '../seeds/index.ts'
import { editBody, previewBody, setBody, setByKeyBody, snoozeBody } from './alarm-body.ts'
import { alarmWire, filterShape, pageAnswer, setWire } from './alarm-wire.ts'
import { across, acrossById, choice, cursor, idOf, limit, name, since, text } from './fields.ts'
import { created, NO_BODY, ok, operationsOf } from './operation.ts'
import { previewWire } from './preview-wire.ts'

const id = z.object({ id: idOf('The alarm’s id.') })
const counts = z.object({ cancelled: z.int(), firing: z.int() })
const oneAlarm = ok('The alarm as it is now.', alarmWire)

const filters = {
  status: choice(LIST_STATUSES, '`pending` and `Scheduled`: active or paused. `Reached`: fired.').optional(),
  ...filterShape,
  target: text('The exact target: a URL or the name of a handler.', 4_096).optional(),
  q: text('Words to search for in label, message, key and subject.').optional(),
  since,
}

/** An action on one alarm that needs only its id. */
const action = (
  summary: string,
  more: { description?: string; refusals?: readonly 'quota_exceeded'[] } = {},
) =>
  ({
    rights: 'write',
    summary,
    ...(more.description !== undefined && { description: more.description }),
    params: id,
    ...NO_BODY,
    ifMatch: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended', ...(more.refusals ?? [])],
  }) as const

const report = (description: string) => text(description, 64 * 1024).optional()

const reportCall = <S extends z.ZodRawShape>(summary: string, result: S) =>
  ({
    rights: 'write',
    summary,
    params: id,
    body: z.strictObject({
      ...result,
      occurrence_id: text('The occurrence. Default: the oldest that awaits its report.').optional(),
    }),
    bodyOptional: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended'],
  }) as const

/** The errors of a time, and of the alarm that is set. */
const INVALID_WHEN = ['invalid_time', 'invalid_rule', 'invalid_timezone'] as const
const SET_REFUSALS = [...INVALID_WHEN, 'payload_too_large', 'quota_exceeded'] as const

/** The calls about alarms. */
export const alarmOperations = operationsOf('alarms', {
  set: {
    rights: 'write',
    summary: 'Set an alarm',
    description:
      'Responds when the alarm is on disk. A known `idempotency_key` returns the first alarm with `deduped: true` (200). A known `key` changes that alarm (200), or changes nothing if it is defined so already: then the answer has `unchanged: true`.',
    body: setBody,
    idempotencyHeader: true,
    answers: {
      201: { description: 'The alarm is set.', schema: setWire },
      200: { description: 'The alarm existed: unchanged, or changed.', schema: setWire },
    },
    refusals: SET_REFUSALS,
  },
  setMany: {
    rights: 'write',
    summary: 'Set up to 1,000 alarms, all or none',
    description:
      'Each item may have its own `idempotency_key`. The header `Idempotency-Key` is an error, because it cannot belong to all items. A batch may be empty.',
    body: z.strictObject({ items: z.array(setBody).meta({ maxItems: DEFAULT_LIMITS.batchMax }) }),
    idempotencyHeader: false,
    answers: created('All are set, in the order of the request.', z.object({ items: z.array(setWire) })),
    refusals: SET_REFUSALS,
  },
  setByKey: {
    rights: 'write',
    summary: 'Set the alarm with this key, or change it',
    description:
      'If the alarm is defined so already, nothing changes, and the answer has `unchanged: true`. With other options and the same rule, the alarm goes on with its rule. Another rule starts over, after what was due of a recurring alarm has been settled by its misfire policy. A paused alarm stays paused without `paused: false`. A known `idempotency_key` returns the first alarm with `deduped: true` (200), and changes nothing.',
    params: z.object({ key: name('The key.') }),
    body: setByKeyBody,
    idempotencyHeader: true,
    answers: {
      201: { description: 'The alarm is new.', schema: setWire },
      200: { description: 'The alarm existed: unchanged, or changed and without failures.', schema: setWire },
    },
    refusals: SET_REFUSALS,
  },
  list: {
    rights: 'read',
    summary: 'List your alarms, newest first',
    query: z.strictObject({
      ...filters,
      order: choice(
        ['newest', 'due'],
        '`due`: only alarms that have a next instant, the next one first. Paused and ended alarms have none: without `status`, or with `pending`, they are left out; with their own `status` the call fails (400).',
      ).optional(),
      limit: limit(50),
      cursor: cursor.describe(
        'The `next_cursor` of the previous page, with the same `order`. Omit it for the first page.',
      ),
      ...across,
    }),
    answers: pageAnswer,
    refusals: ['invalid_time'],
  },
  get: {
    rights: 'read',
    summary: 'Get an alarm',
    params: id,
    query: z.strictObject(acrossById),
    answers: oneAlarm,
    refusals: ['not_found'],
  },
  edit: {
    rights: 'write',
    summary: 'Edit or reschedule an alarm',
    params: id,
    body: editBody,
    ifMatch: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended', ...SET_REFUSALS],
  },
  cancel: {
    rights: 'write',
    summary: 'Cancel an alarm',
    description:
      '`cancelled`: no further delivery starts. `firing`: a delivery is in flight, and none follows. `ended`: the alarm had ended already.',
    params: id,
    ifMatch: true,
    answers: ok(
      'The outcome.',
      z.object({ outcome: z.enum(['cancelled', 'firing', 'ended']), alarm: alarmWire }),
    ),
    refusals: ['not_found', 'conflict'],
  },
  pause: action('Pause an alarm'),
  resume: action('Resume a paused alarm'),
  skip: action('Skip the next occurrence'),
  snooze: {
    rights: 'write',
    summary: 'Snooze an alarm: it fires at another instant instead',
    description:
      'A one-shot alarm moves there, also if it has fired already. A recurring alarm keeps its rule, and one occurrence moves: the next one if it comes before that instant, else the last one, which comes again.',
    params: id,
    body: snoozeBody,
    ifMatch: true,
    answers: oneAlarm,
    refusals: ['not_found', 'conflict', 'already_ended', 'quota_exceeded', ...INVALID_WHEN],
  },
  fire: action('Fire an alarm now', {
    description: 'The schedule of a recurring alarm continues. A one-shot alarm does not fire again.',
    refusals: ['quota_exceeded'],
  }),
  retry: action('Retry a failed or timed-out alarm now', { refusals: ['quota_exceeded'] }),
  complete: reportCall('Report success', { result: report('The result. Default: `ok`.') }),
  fail: reportCall('Report failure', { reason: report('The reason.') }),
  act: {
    rights: 'write',
    summary: 'Apply an action to all matching alarms',
    description:
      'With `dry_run` it only counts. One call handles at most 10,000 alarms; `more` is true if some are left.',
    body: z.strictObject({
      action: z.enum(['cancel', 'pause', 'resume', 'skip', 'fire', 'retry']),
      filter: z.strictObject(filters).describe('Which alarms; `{}` is all of yours.'),
      dry_run: z.boolean().optional(),
    }),
    answers: ok(
      'The counts.',
      z.object({
        matched: z.int(),
        done: z.int(),
        refused: z
          .array(z.object({ id: z.string(), code: z.string(), detail: z.string() }))
          .describe('The first 100 alarms for which the action failed.'),
        more: z.boolean(),
      }),
    ),
    refusals: ['invalid_time'],
  },
  removeSubject: {
    rights: 'write',
    summary: 'Cancel every alarm of a subject',
    params: z.object({ subject: name('The subject.') }),
    answers: ok('The counts.', counts),
  },
  reset: {
    rights: 'write',
    summary: 'Cancel all your pending alarms',
    ...NO_BODY,
    answers: ok('The counts.', counts),
  },
  preview: {
    rights: 'read',
    summary: 'Preview a time, without storing anything',
    body: previewBody,
    answers: ok('The zone, the rule in words, and the next instants.', previewWire),
    refusals: INVALID_WHEN,
  },
})
