import { z } from 'zod'
import { duration, idOf, judged, limit, targetSpec, text } from './fields.ts'
import { named, ok, operationsOf } from './operation.ts'

/** A wake: the body of a webhook, and an item of the inbox, which adds `tries`. */
const wakeBody = named('Wake', {
  alarm_id: z.string(),
  occurrence_id: z.string().describe('The same on every retry.'),
  scheduled_for: z.string(),
  fired_at: z.string(),
  drift_ms: z.int().describe('How late the attempt is.'),
  attempt: z.int(),
  label: z.string(),
  key: z.string().nullable(),
  owner: z.string(),
  user_id: z.string().describe('The user id in the DID of the owner, or the owner itself.'),
  conversation_id: z.string().describe('Empty: open a new conversation.'),
  wake_message: z.string(),
  payload: z.unknown().optional(),
  correlation_id: z.string(),
  subject: z.string().nullable(),
  tries: z.int().describe('Number of times the wake was handed out, including this one. Only in the inbox.'),
})

/** The calls of the inbox, for agents without a URL. */
export const inboxOperations = operationsOf('inbox', {
  inbox: {
    rights: 'write',
    summary: 'Read your wakes, or wait for one',
    description:
      'The wakes of alarms with `target: inbox`, oldest first. Acknowledge each within `hold` (60 s), or it is handed out again.',
    query: z.strictObject({
      wait: duration('How long to wait for a wake. Default: 0s, at most 60s.', '30s').optional(),
      hold: duration('Time to acknowledge them. Default: 60s, at most 1h.').optional(),
      limit: limit(10, 100),
    }),
    answers: ok(
      'The wakes, up to `limit` or about 4 MiB; none if the wait timed out.',
      z.object({
        items: z.array(wakeBody),
      }),
    ),
    refusals: ['invalid_time'],
  },
  ack: {
    rights: 'write',
    summary: 'Acknowledge a wake, and report its result',
    description:
      'Removes the wake from the inbox. For an alarm with `ack: report`, `complete` or `fail` is the report. A late acknowledgement, after `hold`, is accepted too; with `tries` it is not, if the wake was handed out again.',
    params: z.object({
      occurrence_id: idOf('The wake’s `occurrence_id`.'),
    }),
    body: z.strictObject({
      complete: text('The result.', 64 * 1024).optional(),
      fail: text('Why it failed.', 64 * 1024).optional(),
      tries: judged<number>({
        type: 'integer',
        minimum: 1,
        description: 'The `tries` of the wake. If it was handed out again since, the call fails (404).',
      }).optional(),
    }),
    bodyOptional: true,
    answers: ok('The wake is acknowledged.', z.object({ acknowledged: z.literal(true) })),
    refusals: ['not_found'],
  },
})

const defaultTarget = z.object({ target: targetSpec })

const noTarget = { answers: ok('Whether there was one.', z.object({ removed: z.boolean() })) } as const

/** The calls about the default targets of an owner and of a tenant. */
export const ownerOperations = operationsOf('owner', {
  getOwnerTarget: {
    rights: 'read',
    summary: 'Get your default target',
    answers: ok('The default target.', defaultTarget),
    refusals: ['not_found'],
  },
  putOwnerTarget: {
    rights: 'write',
    summary: 'Set your default target',
    description:
      'The target of your alarms that name none. It is looked up when an alarm fires, so pending alarms follow a change.',
    body: z.strictObject({ target: targetSpec }),
    answers: ok('The default target.', defaultTarget),
    refusals: ['conflict'],
  },
  removeOwnerTarget: {
    rights: 'write',
    summary: 'Remove your default target',
    ...noTarget,
  },
  getTenantTarget: {
    rights: 'admin',
    summary: 'Get the default target of your tenant',
    answers: ok('The default target.', defaultTarget),
    refusals: ['not_found'],
  },
  putTenantTarget: {
    rights: 'admin',
    summary: 'Set the default target of your tenant',
    description:
      'The target of alarms that name none and whose owner has no default target. Its URL may name the owner, as in `https://app.example.com/wake/{{user_id}}`. Needs a key that is not bound to one owner.',
    body: z.strictObject({ target: targetSpec }),
    answers: ok('The default target.', defaultTarget),
    refusals: ['conflict'],
  },
  removeTenantTarget: {
    rights: 'admin',
    summary: 'Remove the default target of your tenant',
    ...noTarget,
  },
})
