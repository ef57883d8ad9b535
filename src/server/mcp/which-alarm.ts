import { operations } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { call, read, type ToolContext } from './tool.ts'

/** How a tool is told which alarm: by its id, or by the key it was set with. */
export const WHICH = {
  id: operations.get.params.shape.id.optional(),
  key: operations.getByKey.params.shape.key
    .optional()
    .meta({ description: 'Instead of the id: the key the alarm was set with.' }),
}

/** The id of the alarm that is meant. */
export async function idOf(
  { id, key }: { readonly id?: string | undefined; readonly key?: string | undefined },
  work: ToolContext,
): Promise<string> {
  if ((id === undefined) === (key === undefined))
    throw new WakefulError('invalid_request', 'name the alarm by its id or by its key: exactly one of them')
  if (id !== undefined) return id
  return read<{ id: string }>(await call(work, 'getByKey', { params: { key: key! } })).id
}

/** The version an edit was made from. */
export const SEEN = {
  updated_at: operations.get.answers[200].schema.shape.updated_at.optional().meta({
    description: 'The `updated_at` you saw: refused (`conflict`) where the alarm has changed since.',
  }),
}

/** The work, bound to the version that was seen. */
export function withSeen(
  work: ToolContext,
  { updated_at }: { readonly updated_at?: string | undefined },
): ToolContext {
  return updated_at === undefined ? work : { ...work, context: { ...work.context, seen: updated_at } }
}
