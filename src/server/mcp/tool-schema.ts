import { z } from 'zod'

type Json = Record<string, unknown>

/** A schema as a tool shows it: whole, without references, which many clients do not follow. */
export function toolSchema(schema: z.ZodObject, io: 'input' | 'output'): Json & { type: 'object' } {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  const definitions = (json.$defs ?? {}) as Record<string, Json>
  const { $defs: __, ...whole } = inlined(json, definitions) as Json
  return { ...whole, type: 'object' }
}

function inlined(value: unknown, definitions: Readonly<Record<string, Json>>): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(item, definitions))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, id, ...rest } = value as Json
  const name = typeof $ref === 'string' ? /^#\/\$defs\/(.+)$/.exec($ref)?.[1] : undefined
  const fields = Object.entries(rest)
    .filter(([key, field]) => !isBound(key, field))
    .map(([key, field]) => [key, inlined(field, definitions)])
  // A property may be called `id`; the name of a schema is a text.
  const own = Object.fromEntries(
    typeof id === 'object' ? [['id', inlined(id, definitions)], ...fields] : fields,
  )
  return name === undefined ? own : { ...(inlined(definitions[name], definitions) as Json), ...own }
}

/** Lengths, and bounds that every whole number keeps: models read every word of a list of tools, and gain nothing by these. */
function isBound(key: string, field: unknown): boolean {
  if (key === 'minLength' || key === 'maxLength') return typeof field === 'number'
  return (key === 'minimum' || key === 'maximum') && Math.abs(Number(field)) === Number.MAX_SAFE_INTEGER
}
