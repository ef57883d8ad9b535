import { z } from 'zod'
import { instant, name } from './fields.ts'
import { operation } from './operation.ts'
import { pace } from './tenants.ts'

const secret = z
  .object({
    secret: z.string().meta({ description: 'As the Standard Webhooks libraries take it: `whsec_…`.' }),
    former: z
      .string()
      .nullable()
      .meta({ description: 'The one before, while it signs too. Those before that may sign yet.' }),
    former_until: instant('Until when it does.').nullable(),
  })
  .meta({ id: 'WebhookSecret' })

const target = z.strictObject({
  target: name('The target’s name, as alarms show it: a URL, a handler’s name.', 4_096),
  kind: z.enum(['webhook', 'handler', 'inbox']).optional().meta({
    description: '`webhook` for a URL, `handler` for a name, where nothing is said.',
  }),
})
const pausedTarget = z.object({
  target: z.string(),
  kind: z.string(),
  paused: z.boolean(),
  catching_up: z.boolean(),
})

/** The calls about where fires go: signatures and pauses. */
export const targetOperations = {
  webhookSecret: operation({
    method: 'GET',
    path: '/v1/webhooks/secret',
    chapter: 'operators',
    rights: 'admin',
    summary: 'The secret your tenant’s webhooks are signed with',
    answers: { 200: { description: 'The secret.', schema: secret } },
  }),
  rotateWebhookSecret: operation({
    method: 'POST',
    path: '/v1/webhooks/secret/rotate',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Sign with another secret; for 24 hours the former signs too',
    description:
      'Each former one signs for its own 24 hours, also where another rotation follows: a repeat of a call whose answer was lost hurts no receiver. While ten sign, there is no more (409).',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: { 200: { description: 'The secret.', schema: secret } },
    refusals: ['conflict'],
  }),
  listHeldTargets: operation({
    method: 'GET',
    path: '/v1/targets/held',
    chapter: 'operators',
    rights: 'admin',
    summary: 'The targets that are paused, or being caught up with',
    answers: { 200: { description: 'All of them.', schema: z.object({ items: z.array(pausedTarget) }) } },
  }),
  pauseTarget: operation({
    method: 'POST',
    path: '/v1/targets/pause',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Pause a target: what is due there waits',
    description:
      'Whoever’s alarms they are, however they spell its URL, and also where it is a default target: it needs a key of every tenant (`*`).',
    body: target,
    answers: { 200: { description: 'It is paused.', schema: pausedTarget } },
    refusals: ['conflict'],
  }),
  resumeTarget: operation({
    method: 'POST',
    path: '/v1/targets/resume',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Resume a target: what waited is caught up with at a pace',
    body: target.extend(pace.shape),
    answers: { 200: { description: 'It goes on.', schema: pausedTarget } },
    refusals: ['not_found', 'conflict'],
  }),
}
