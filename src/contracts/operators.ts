import { z } from 'zod'
import { duration, instant, limit, ownCursor, ownName, ownText, whole } from './fields.ts'
import { created, NO_BODY, named, ok, operationsOf, pageOf } from './operation.ts'
import { statsWire } from './reads.ts'

const rights = z.enum(['read', 'write', 'admin']).describe('`write` includes `read`, `admin` both.')

/** A key without its secret part. */
const keyView = named('Key', {
  id: z.string().describe('Its public part.'),
  tenant: z.string(),
  owner: z.string().nullable().describe('Null: each request names the owner (`Wakeful-Owner`).'),
  rights,
  label: z.string(),
  created_at: instant('When it was created.'),
  created_by: z.string().nullable(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
})

const newKey = keyView
  .extend({ key: z.string().describe('The key itself. It is shown only once.') })
  .meta({ id: 'NewKey' })

const keyId = z.object({
  id: z.string().regex(/^[0-9a-f]{16}$/, 'the public part of a key: 16 hex digits'),
})

const quotas = z
  .strictObject({
    active_alarms: whole(0, null, 'Alarms that have yet to fire.').optional(),
    sets_per_second: z.number().meta({ exclusiveMinimum: 0 }).optional(),
    payload_bytes: whole(0, null, 'Total of payload, message, `target` and `on_failure`.').optional(),
    concurrent_deliveries: whole(1, null, 'Concurrent deliveries, per process.').optional(),
    wakes_per_hour: whole(
      1,
      null,
      'Alarms due within five minutes of being set, fires and retries. It stops an agent that wakes itself in a loop.',
    ).optional(),
    min_interval: duration('The shortest period of a recurring alarm.').optional(),
  })
  .meta({ id: 'Quotas' })

/** The limits of a tenant, or of one owner. Without a value there is no limit. */
export type Quotas = z.output<typeof quotas>

const tenantView = named('Tenant', {
  tenant: z.string(),
  quotas,
  owner_quotas: quotas.describe('The quotas of each owner.'),
  paused: z.boolean(),
  catching_up: z.boolean(),
  stats: statsWire.describe('The counts of all its owners.'),
})

const tenant = z.object({ tenant: ownName('The tenant.') })
const oneTenant = ok('The tenant as it is now.', tenantView)
/** The rate of catching up after a pause. */
const pace = z.strictObject({
  per_second: whole(1, 100_000, 'Waiting deliveries that start per second. Default: 100.').optional(),
})

const secret = named('WebhookSecret', {
  secret: z.string().describe('In the form of the Standard Webhooks libraries: `whsec_…`.'),
  former: z
    .string()
    .nullable()
    .describe('The previous secret, while it still signs. Older ones may still sign too.'),
  former_until: instant('Until when the previous secret signs.').nullable(),
})

const target = z.strictObject({
  target: ownName('The target as alarms name it: a URL or the name of a handler.', 4_096),
  kind: z
    .enum(['webhook', 'handler', 'inbox'])
    .optional()
    .describe('Default: `webhook` for a URL, `handler` for a name.'),
})
const pausedTarget = z.object({
  target: z.string(),
  kind: z.string(),
  paused: z.boolean(),
  catching_up: z.boolean(),
})

/** The calls of operators: keys, tenants and targets. */
export const operatorOperations = operationsOf('operators', {
  createKey: {
    rights: 'admin',
    summary: 'Create a key',
    description: 'The key is only in this response: the server stores a hash.',
    body: z.strictObject({
      tenant: ownName('The tenant. Default: your own. `*` is every tenant, for operators.').optional(),
      owner: ownText('The owner. Default: each request names one.').optional(),
      rights: rights.optional(),
      label: ownText('What it is for.').optional(),
      expires_in: duration('When it expires. Default: never.').optional(),
    }),
    answers: created('The key.', newKey),
    refusals: ['invalid_time'],
  },
  listKeys: {
    rights: 'admin',
    summary: 'List the keys, without their secret parts',
    query: z.strictObject({ limit: limit(50), cursor: ownCursor }),
    answers: ok('A page.', pageOf(keyView)),
  },
  rotateKey: {
    rights: 'admin',
    summary: 'Replace the secret part of a key',
    params: keyId,
    body: z.strictObject({ grace: duration('How long the old one stays valid. Default: 0s.').optional() }),
    bodyOptional: true,
    answers: ok('The key.', newKey),
    refusals: ['not_found', 'already_ended', 'invalid_time', 'conflict'],
  },
  revokeKey: {
    rights: 'admin',
    summary: 'Revoke a key',
    description: 'It stops working within a second.',
    params: keyId,
    answers: ok('The key.', keyView),
    refusals: ['not_found', 'conflict'],
  },
  listTenants: {
    rights: 'admin',
    summary: 'List the tenants, with their settings and counts',
    description:
      'Every tenant that has anything: alarms, events, calendars, keys, a default target or settings. In the order of the store.',
    query: z.strictObject({ limit: limit(50), cursor: ownCursor }),
    answers: ok('A page.', pageOf(tenantView)),
  },
  getTenant: {
    rights: 'admin',
    summary: 'Get the settings and counts of a tenant',
    description:
      'A tenant without settings has empty ones. Other tenants are not found, except with a key of every tenant (`*`).',
    params: tenant,
    answers: oneTenant,
    refusals: ['not_found'],
  },
  putTenant: {
    rights: 'admin',
    summary: 'Set the quotas of a tenant',
    description: 'Omitted quotas have the defaults of the server. Needs a key of every tenant (`*`).',
    params: tenant,
    body: z.strictObject({ quotas: quotas.optional(), owner_quotas: quotas.optional() }),
    answers: oneTenant,
    refusals: ['invalid_time', 'conflict'],
  },
  pauseTenant: {
    rights: 'admin',
    summary: 'Pause a tenant: its deliveries wait',
    params: tenant,
    ...NO_BODY,
    answers: oneTenant,
    refusals: ['conflict'],
  },
  resumeTenant: {
    rights: 'admin',
    summary: 'Resume a tenant: waiting deliveries catch up at a limited rate',
    params: tenant,
    body: pace,
    bodyOptional: true,
    answers: oneTenant,
    refusals: ['conflict'],
  },
  webhookSecret: {
    rights: 'admin',
    summary: 'Get the secret that signs your tenant’s webhooks',
    answers: ok('The secret.', secret),
  },
  rotateWebhookSecret: {
    rights: 'admin',
    summary: 'Replace the secret; the old one signs for another 24 hours',
    description:
      'Each old secret signs for its own 24 hours, even if another rotation follows, so repeating a call whose response was lost is safe. At most ten old secrets sign at a time (409).',
    ...NO_BODY,
    answers: ok('The secret.', secret),
    refusals: ['conflict'],
  },
  listPausedTargets: {
    rights: 'admin',
    summary: 'List the targets that are paused or catching up',
    answers: ok('All of them.', z.object({ items: z.array(pausedTarget) })),
  },
  pauseTarget: {
    rights: 'admin',
    summary: 'Pause a target: its deliveries wait',
    description:
      'Affects the alarms of every tenant, all spellings of the URL, and uses as a default target. Needs a key of every tenant (`*`).',
    body: target,
    answers: ok('The target is paused.', pausedTarget),
    refusals: ['conflict'],
  },
  resumeTarget: {
    rights: 'admin',
    summary: 'Resume a target: waiting deliveries catch up at a limited rate',
    body: target.extend(pace.shape),
    answers: ok('The target is resumed.', pausedTarget),
    refusals: ['not_found', 'conflict'],
  },
})
