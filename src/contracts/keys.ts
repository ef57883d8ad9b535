import { z } from 'zod'
import { cursor, duration, instant, limit, name, text } from './fields.ts'
import { operation } from './operation.ts'

const rights = z
  .enum(['read', 'write', 'admin'])
  .meta({ description: '`write` includes `read`, `admin` both.' })

/** A key without its secret part. */
const keyView = z
  .object({
    id: z.string().meta({ description: 'Its public part.' }),
    tenant: z.string(),
    owner: z
      .string()
      .nullable()
      .meta({ description: 'Null: each request names the owner (`Wakeful-Owner`).' }),
    rights,
    label: z.string(),
    created_at: instant('When it was created.'),
    created_by: z.string().nullable(),
    expires_at: z.string().nullable(),
    revoked_at: z.string().nullable(),
  })
  .meta({ id: 'Key' })

const newKey = keyView
  .extend({ key: z.string().meta({ description: 'The key itself. It is shown only once.' }) })
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
    summary: 'Create a key',
    description: 'The key is only in this response: the server stores a hash.',
    body: z.strictObject({
      tenant: name('The tenant. Default: your own. `*` is every tenant, for operators.').optional(),
      owner: text('The owner. Default: each request names one.').optional(),
      rights: rights.optional(),
      label: text('What it is for.').optional(),
      expires_in: duration('When it expires. Default: never.').optional(),
    }),
    answers: { 201: { description: 'The key.', schema: newKey } },
    refusals: ['invalid_time'],
  }),
  listKeys: operation({
    method: 'GET',
    path: '/v1/keys',
    chapter: 'operators',
    rights: 'admin',
    summary: 'List the keys, without their secret parts',
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
    summary: 'Replace the secret part of a key',
    params: keyId,
    body: z.strictObject({ grace: duration('How long the old one stays valid. Default: 0s.').optional() }),
    bodyOptional: true,
    answers: { 200: { description: 'The key.', schema: newKey } },
    refusals: ['not_found', 'already_ended', 'invalid_time', 'conflict'],
  }),
  revokeKey: operation({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Revoke a key, within a second',
    params: keyId,
    answers: { 200: { description: 'The key.', schema: keyView } },
    refusals: ['not_found', 'conflict'],
  }),
}
