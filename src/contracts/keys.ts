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
    refusals: ['invalid_time'],
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
    refusals: ['not_found', 'already_ended', 'invalid_time', 'conflict'],
  }),
  revokeKey: operation({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    chapter: 'operators',
    rights: 'admin',
    summary: 'Revoke a key: within a second nobody gets in by it',
    params: keyId,
    answers: { 200: { description: 'The key.', schema: keyView } },
    refusals: ['not_found', 'conflict'],
  }),
}
