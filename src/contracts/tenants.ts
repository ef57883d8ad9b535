import { z } from 'zod'
import { cursor, duration, limit, name } from './fields.ts'
import { operation } from './operation.ts'

const quotas = z
  .strictObject({
    active_alarms: z.int().min(0).optional().meta({ description: 'Alarms that are still to fire.' }),
    sets_per_second: z.number().positive().optional(),
    payload_bytes: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Of payload, message, `target` and `on_failure` together.' }),
    concurrent_deliveries: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Under way at a time, in each process for itself.' }),
    wakes_per_hour: z.int().min(1).optional().meta({
      description:
        'Alarms first due within five minutes of being set, fires and retries: what an agent that wakes itself in a loop runs into.',
    }),
    min_interval: duration('The shortest period of a recurring alarm.').optional(),
  })
  .meta({ id: 'Quotas' })

/** Bounds on what a tenant, or one owner, may use. What is absent has none. */
export type Quotas = z.output<typeof quotas>

const tenantView = z
  .object({
    tenant: z.string(),
    quotas,
    owner_quotas: quotas.meta({ description: 'The same, of each single owner.' }),
    paused: z.boolean(),
    catching_up: z.boolean(),
  })
  .meta({ id: 'Tenant' })

const tenant = z.object({ tenant: name('The tenant.') })
const oneTenant = { 200: { description: 'The tenant as it is now.', schema: tenantView } }
/** How fast what waited is caught up with. */
export const pace = z.strictObject({
  per_second: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'How many of those that waited start per second (100).' }),
})

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
    description:
      'One of which nothing was ever said has empty ones. A tenant that is not yours is not found, but by a key of every tenant (`*`).',
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
    refusals: ['invalid_time', 'conflict'],
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
    refusals: ['conflict'],
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
    refusals: ['conflict'],
  }),
}
