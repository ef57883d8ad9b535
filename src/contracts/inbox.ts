import { z } from 'zod'
import { duration, limit, plain, targetSpec, text } from './fields.ts'
import { operation } from './operation.ts'

/** What is told of a wake, the same to a webhook and in the inbox, which adds how often it was handed out. */
const wakeBody = z
  .object({
    alarm_id: z.string(),
    occurrence_id: z.string().meta({ description: 'The same over retries.' }),
    scheduled_for: z.string(),
    fired_at: z.string(),
    drift_ms: z.int().meta({ description: 'How late it is.' }),
    attempt: z.int(),
    label: z.string(),
    key: z.string().nullable(),
    owner: z.string(),
    user_id: z
      .string()
      .meta({ description: 'The user id of an owner that is a DID; any other owner is its own.' }),
    conversation_id: z.string().meta({ description: 'Empty: open a fresh one.' }),
    wake_message: z.string(),
    payload: z.unknown().optional(),
    correlation_id: z.string(),
    subject: z.string().nullable(),
    tries: z
      .int()
      .meta({ description: 'How often it was handed out, this time included. In the inbox alone.' }),
  })
  .meta({ id: 'Wake' })

/** The calls of agents without a URL. */
export const inboxOperations = {
  inbox: operation({
    method: 'GET',
    path: '/v1/inbox',
    chapter: 'inbox',
    rights: 'write',
    summary: 'Your wakes; with `wait`, waits for one where there is none',
    description:
      'The wakes of alarms with `target: inbox`, oldest first. Each is yours for `hold` (60 s): acknowledge it within that time, or it comes again.',
    query: z.strictObject({
      wait: duration('How long to wait for a wake (0s, at most 60s).', '30s').optional(),
      hold: duration('How long they are yours (60s, at most 1h).').optional(),
      limit: limit(10, 100),
    }),
    answers: {
      200: {
        description: 'The wakes, as many as asked for or about 4 MiB of them; none where the wait has ended.',
        schema: z.object({
          items: z.array(wakeBody),
        }),
      },
    },
    refusals: ['invalid_time'],
  }),
  ack: operation({
    method: 'POST',
    path: '/v1/inbox/{occurrence_id}/ack',
    chapter: 'inbox',
    rights: 'write',
    summary: 'Acknowledge a wake, and report what came of it',
    description:
      'It is taken out of the inbox. With `ack: report`, `complete` or `fail` is the report. Who comes after its `hold` still may, also where another has taken it meanwhile: with `tries`, only who has it now.',
    params: z.object({
      occurrence_id: plain().min(1).max(300).meta({ description: 'The wake’s `occurrence_id`.' }),
    }),
    body: z.strictObject({
      complete: text('What came of it.', 64 * 1024).optional(),
      fail: text('Why it failed.', 64 * 1024).optional(),
      tries: z.int().min(1).optional().meta({
        description: 'The wake’s `tries`: where it was handed out again since, it is refused (404).',
      }),
    }),
    bodyOptional: true,
    answers: {
      200: { description: 'It is out of the inbox.', schema: z.object({ acknowledged: z.literal(true) }) },
    },
    refusals: ['not_found'],
  }),
}

const defaultTarget = z.object({ target: targetSpec })

/** The calls about the owner. */
export const ownerOperations = {
  getOwnerTarget: operation({
    method: 'GET',
    path: '/v1/owner/target',
    chapter: 'owner',
    rights: 'read',
    summary: 'Where your alarms go that name no target',
    answers: { 200: { description: 'The default target.', schema: defaultTarget } },
    refusals: ['not_found'],
  }),
  putOwnerTarget: operation({
    method: 'PUT',
    path: '/v1/owner/target',
    chapter: 'owner',
    rights: 'write',
    summary: 'Say where your alarms go that name no target',
    description: 'Looked up when an alarm fires: one that is pending follows the change.',
    body: z.strictObject({ target: targetSpec }),
    answers: { 200: { description: 'The default target.', schema: defaultTarget } },
    refusals: ['conflict'],
  }),
  removeOwnerTarget: operation({
    method: 'DELETE',
    path: '/v1/owner/target',
    chapter: 'owner',
    rights: 'write',
    summary: 'Have no default target any more',
    answers: { 200: { description: 'Whether there was one.', schema: z.object({ removed: z.boolean() }) } },
  }),
}
