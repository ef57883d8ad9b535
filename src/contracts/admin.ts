import { z } from 'zod'
import { cursor, duration, instant, limit, name, text } from './fields.ts'
import { operation } from './operation.ts'

const rights = z
  .enum(['read', 'write', 'admin'])
  .meta({ description: '`write` includes `read`, `admin` both.' })

/** A key as it may be shown: never its text. */
const keyView = z
  .object({
    id: z.string().meta({ description: 'Its public part.' }),
    tenant: z.string(),
    owner: z
      .string()
      .nullable()
      .meta({ description: 'Null: it names the owner per request (`Wakeful-Owner`).' }),
    rights,
    label: z.string(),
    created_at: instant('When it was made.'),
    created_by: z.string().nullable(),
    expires_at: z.string().nullable(),
    revoked_at: z.string().nullable(),
  })
  .meta({ id: 'Key' })

const newKey = keyView
  .extend({ key: z.string().meta({ description: 'The key itself, shown this once.' }) })
  .meta({ id: 'NewKey' })

const keyId = z.object({
  id: z.string().regex(/^[0-9a-f]{16}$/, 'must be the public part of a key: 16 hex digits'),
})

/** The calls about keys. */
export const keyOperations = {
  createKey: operation({
    method: 'POST',
    path: '/v1/keys',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Make a key',
    description: 'Its text is in this answer and nowhere else: what is stored is a hash.',
    body: z.strictObject({
      tenant: name('Whose; your own where nothing is said. `*` is every tenant, for operators.').optional(),
      owner: text('Which owner; where nothing is said it names one per request.').optional(),
      rights: rights.optional(),
      label: text('What it is for.').optional(),
      expires_in: duration('How long it holds; for ever where nothing is said.').optional(),
    }),
    answers: { 201: { description: 'The key.', schema: newKey } },
  }),
  listKeys: operation({
    method: 'GET',
    path: '/v1/keys',
    chapter: 'operators',
    rights: 'admin',
    summary: 'The keys, without their texts',
    query: z.strictObject({ limit: limit(50), cursor }),
    answers: {
      200: {
        description: 'A page.',
        schema: z.object({ items: z.array(keyView), next_cursor: z.string().nullable() }),
      },
    },
  }),
  rotateKey: operation({
    method: 'POST',
    path: '/v1/keys/{id}/rotate',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Give a key another text',
    params: keyId,
    body: z.strictObject({ grace: duration('How long the former one holds still (0s).').optional() }),
    bodyOptional: true,
    answers: { 200: { description: 'The key.', schema: newKey } },
    refusals: ['not_found', 'already_ended'],
  }),
  revokeKey: operation({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Revoke a key: within a second nobody gets in by it',
    params: keyId,
    answers: { 200: { description: 'The key.', schema: keyView } },
    refusals: ['not_found'],
  }),
}

const quotas = z
  .strictObject({
    active_alarms: z.int().min(0).optional().meta({ description: 'Alarms that are still to fire.' }),
    sets_per_second: z.number().positive().optional(),
    payload_bytes: z.int().min(0).optional(),
    concurrent_deliveries: z.int().min(1).optional(),
    wakes_per_hour: z.int().min(1).optional().meta({
      description:
        'Alarms due within five minutes of being set: what an agent that wakes itself in a loop runs into.',
    }),
    min_interval: duration('The shortest period of a recurring alarm.').optional(),
  })
  .meta({ id: 'Quotas' })

const tenantView = z
  .object({
    tenant: z.string(),
    quotas,
    owner_quotas: quotas.meta({ description: 'The same, of each single owner.' }),
    paused: z.boolean(),
    catching_up: z.boolean(),
    webhook_secret: z.object({ number: z.int(), rotated_at: z.string().nullable() }),
  })
  .meta({ id: 'Tenant' })

const tenant = z.object({ tenant: name('The tenant.') })
const oneTenant = { 200: { description: 'The tenant as it is now.', schema: tenantView } }
const pace = z.strictObject({
  per_second: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'How many of those that waited start per second (100).' }),
})
const target = z.strictObject({ target: name('A target’s name: a URL, a handler.', 4_096) })

/** The calls about tenants and targets. */
export const tenantOperations = {
  listTenants: operation({
    method: 'GET',
    path: '/v1/tenants',
    chapter: 'operators',
    rights: 'admin',
    summary: 'The tenants that have settings of their own',
    query: z.strictObject({ limit: limit(50), cursor }),
    answers: {
      200: {
        description: 'A page.',
        schema: z.object({ items: z.array(tenantView), next_cursor: z.string().nullable() }),
      },
    },
  }),
  getTenant: operation({
    method: 'GET',
    path: '/v1/tenants/{tenant}',
    chapter: 'operators',
    rights: 'admin',
    summary: 'A tenant’s settings',
    params: tenant,
    answers: oneTenant,
    refusals: ['not_found'],
  }),
  putTenant: operation({
    method: 'PUT',
    path: '/v1/tenants/{tenant}',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Set a tenant’s quotas',
    description:
      'What is left out has no bound but the server’s own defaults. Needs a key of every tenant (`*`).',
    params: tenant,
    body: z.strictObject({ quotas: quotas.optional(), owner_quotas: quotas.optional() }),
    answers: oneTenant,
  }),
  pauseTenant: operation({
    method: 'POST',
    path: '/v1/tenants/{tenant}/pause',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Pause a tenant: what comes due waits',
    params: tenant,
    body: z.strictObject({}),
    bodyOptional: true,
    answers: oneTenant,
  }),
  resumeTenant: operation({
    method: 'POST',
    path: '/v1/tenants/{tenant}/resume',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Resume a tenant: what waited is caught up with at a pace',
    params: tenant,
    body: pace,
    bodyOptional: true,
    answers: oneTenant,
  }),
  webhookSecret: operation({
    method: 'GET',
    path: '/v1/tenants/{tenant}/webhook-secret',
    chapter: 'operators',
    rights: 'admin',
    summary: 'The secret by which a tenant’s webhooks are signed',
    params: tenant,
    answers: {
      200: {
        description: 'The secrets that sign now, newest first.',
        schema: z.object({ secrets: z.array(z.string()), number: z.int() }),
      },
    },
    refusals: ['not_found'],
  }),
  rotateWebhookSecret: operation({
    method: 'POST',
    path: '/v1/tenants/{tenant}/webhook-secret/rotate',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Sign by another secret; for a day the former signs too',
    params: tenant,
    body: z.strictObject({}),
    bodyOptional: true,
    answers: {
      200: {
        description: 'The secrets that sign now, newest first.',
        schema: z.object({ secrets: z.array(z.string()), number: z.int() }),
      },
    },
    refusals: ['not_found'],
  }),
  listPausedTargets: operation({
    method: 'GET',
    path: '/v1/targets/paused',
    chapter: 'operators',
    rights: 'admin',
    summary: 'The targets that are paused',
    answers: {
      200: {
        description: 'All of them.',
        schema: z.object({ items: z.array(z.object({ target: z.string(), catching_up: z.boolean() })) }),
      },
    },
  }),
  pauseTarget: operation({
    method: 'POST',
    path: '/v1/targets/pause',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Pause a target: what is due there waits',
    description: 'Whoever’s alarms they are: it needs a key of every tenant (`*`).',
    body: target,
    answers: {
      200: {
        description: 'It is paused.',
        schema: z.object({ target: z.string(), paused: z.literal(true) }),
      },
    },
  }),
  resumeTarget: operation({
    method: 'POST',
    path: '/v1/targets/resume',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Resume a target: what waited is caught up with at a pace',
    body: target.extend(pace.shape),
    answers: {
      200: { description: 'It goes on.', schema: z.object({ target: z.string(), paused: z.literal(false) }) },
    },
    refusals: ['not_found'],
  }),
}
