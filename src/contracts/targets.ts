import { z } from 'zod'
import { instant, name } from './fields.ts'
import { operation } from './operation.ts'
import { pace } from './tenants.ts'

const secret = z
  .object({
    secret: z.string().meta({ description: 'In the form of the Standard Webhooks libraries: `whsec_…`.' }),
    former: z
      .string()
      .nullable()
      .meta({ description: 'The previous secret, while it still signs. Older ones may still sign too.' }),
    former_until: instant('Until when the previous secret signs.').nullable(),
  })
  .meta({ id: 'WebhookSecret' })

const target = z.strictObject({
  target: name('The target as alarms name it: a URL or the name of a handler.', 4_096),
  kind: z.enum(['webhook', 'handler', 'inbox']).optional().meta({
    description: 'Default: `webhook` for a URL, `handler` for a name.',
  }),
})
const pausedTarget = z.object({
  target: z.string(),
  kind: z.string(),
  paused: z.boolean(),
  catching_up: z.boolean(),
})

/** The calls about targets: signatures and pauses. */
export const targetOperations = {
  webhookSecret: operation({
    method: 'GET',
    path: '/v1/webhooks/secret',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Get the secret that signs your tenant’s webhooks',
    answers: { 200: { description: 'The secret.', schema: secret } },
  }),
  rotateWebhookSecret: operation({
    method: 'POST',
    path: '/v1/webhooks/secret/rotate',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Replace the secret; the old one signs for another 24 hours',
    description:
      'Each old secret signs for its own 24 hours, even if another rotation follows, so repeating a call whose response was lost is safe. At most ten old secrets sign at a time (409).',
    body: z.strictObject({}),
    bodyOptional: true,
    answers: { 200: { description: 'The secret.', schema: secret } },
    refusals: ['conflict'],
  }),
  listPausedTargets: operation({
    method: 'GET',
    path: '/v1/targets/held',
    chapter: 'operators',
    rights: 'admin',
    summary: 'List the targets that are paused or catching up',
    answers: { 200: { description: 'All of them.', schema: z.object({ items: z.array(pausedTarget) }) } },
  }),
  pauseTarget: operation({
    method: 'POST',
    path: '/v1/targets/pause',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Pause a target: its deliveries wait',
    description:
      'Affects the alarms of every tenant, all spellings of the URL, and uses as a default target. Needs a key of every tenant (`*`).',
    body: target,
    answers: { 200: { description: 'The target is paused.', schema: pausedTarget } },
    refusals: ['conflict'],
  }),
  resumeTarget: operation({
    method: 'POST',
    path: '/v1/targets/resume',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Resume a target: waiting deliveries catch up at a limited rate',
    body: target.extend(pace.shape),
    answers: { 200: { description: 'The target is resumed.', schema: pausedTarget } },
    refusals: ['not_found', 'conflict'],
  }),
}
