import { z } from 'zod'
import { cursor, duration, limit, name } from './fields.ts'
import { operation } from './operation.ts'

const quotas = z
  .strictObject({
    active_alarms: z.int().min(0).optional().meta({ description: 'Alarms that have yet to fire.' }),
    sets_per_second: z.number().positive().optional(),
    payload_bytes: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Total of payload, message, `target` and `on_failure`.' }),
    concurrent_deliveries: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Concurrent deliveries, per process.' }),
    wakes_per_hour: z.int().min(1).optional().meta({
      description:
        'Alarms due within five minutes of being set, fires and retries. It stops an agent that wakes itself in a loop.',
    }),
    min_interval: duration('The shortest period of a recurring alarm.').optional(),
  })
  .meta({ id: 'Quotas' })

/** The limits of a tenant, or of one owner. Without a value there is no limit. */
export type Quotas = z.output<typeof quotas>

const tenantView = z
  .object({
    tenant: z.string(),
    quotas,
    owner_quotas: quotas.meta({ description: 'The quotas of each owner.' }),
    paused: z.boolean(),
    catching_up: z.boolean(),
  })
  .meta({ id: 'Tenant' })

const tenant = z.object({ tenant: name('The tenant.') })
const oneTenant = { 200: { description: 'The tenant as it is now.', schema: tenantView } }
/** The rate of catching up after a pause. */
export const pace = z.strictObject({
  per_second: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'Waiting deliveries that start per second. Default: 100.' }),
})

/** The calls about tenants. */
export const tenantOperations = {
  listTenants: operation({
    method: 'GET',
    path: '/v1/tenants',
    chapter: 'operators',
    rights: 'admin',
    summary: 'List the tenants with settings',
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
    summary: 'Get the settings of a tenant',
    description:
      'A tenant without settings has empty ones. Other tenants are not found, except with a key of every tenant (`*`).',
    params: tenant,
    answers: oneTenant,
    refusals: ['not_found'],
  }),
  putTenant: operation({
    method: 'PUT',
    path: '/v1/tenants/{tenant}',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Set the quotas of a tenant',
    description: 'Omitted quotas have the defaults of the server. Needs a key of every tenant (`*`).',
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
    summary: 'Pause a tenant: its deliveries wait',
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
    summary: 'Resume a tenant: waiting deliveries catch up at a limited rate',
    params: tenant,
    body: pace,
    bodyOptional: true,
    answers: oneTenant,
    refusals: ['conflict'],
  }),
}
