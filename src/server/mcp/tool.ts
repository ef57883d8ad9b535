import type { z } from 'zod'
import { type Input, operations } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { includes } from '../auth/index.ts'
import type { CallContext, Calls, Reply } from '../calls/index.ts'
import type { Advice } from './refusal.ts'

/** The calls that tools are made of. */
export type ToolCalls = Pick<Calls, ToolOperation>

type ToolOperation =
  | 'set'
  | 'list'
  | 'get'
  | 'getByKey'
  | 'edit'
  | 'cancel'
  | 'preview'
  | 'complete'
  | 'fail'
  | 'why'
  | 'inbox'
  | 'ack'
  | 'getOwnerTarget'

/** What a tool works with: the calls of the API, made as the tool's caller. */
export interface ToolContext {
  readonly calls: ToolCalls
  readonly context: CallContext
  readonly now: () => number
}

/** What a tool answers: JSON as on the wire, and text for the agent. */
export interface ToolAnswer {
  /** As text, so that what users wrote is returned exactly as it was sent (promise: verbatim). */
  readonly json: string
  readonly text: string
}

/** What clients may show their users before a tool is called. */
export interface Hints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
}

/** A tool: what an agent reads of it, and what it does. */
export interface Tool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The operation behind it, whose rights it needs. */
  readonly operation: ToolOperation
  readonly input: I
  /** Left out where it is an alarm: its schema, repeated in every tool, would be most of what a model has to read. */
  readonly output?: z.ZodObject
  readonly hints: Hints
  /** Advice on errors that differs from the general one. */
  readonly advice?: Advice
  readonly run: (args: z.output<I>, work: ToolContext) => Promise<ToolAnswer>
}

/** Defines a tool; `run` is checked against the types of its arguments. */
export function tool<I extends z.ZodObject>(definition: Tool<I>): Tool {
  return definition as unknown as Tool
}

/** Hints of a tool that changes nothing. */
export const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

/** Hints of a tool that changes something and destroys nothing. */
export const WRITES: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false }

type Parts<N extends ToolOperation> = Partial<Input<(typeof operations)[N]>>

/** Makes a call of the API as the tool's caller, with its rights. */
export async function call<N extends ToolOperation>(
  work: ToolContext,
  name: N,
  parts: Parts<N>,
): Promise<Reply> {
  const { rights } = operations[name]
  const { caller } = work.context
  if (!includes(caller.rights, rights))
    throw new WakefulError('access.rights', { needed: rights, rights: caller.rights })
  const input = { params: {}, query: {}, body: {}, ...parts }
  return await (work.calls[name] as (input: unknown, context: CallContext) => Reply | Promise<Reply>)(
    input,
    work.context,
  )
}

/** The parsed answer of a call. Digits beyond 2^53 are only in its text. */
export function read<T>({ json }: Reply): T {
  return JSON.parse(json) as T
}

/** The arguments that name an alarm: its id, or the key it was set with. */
export const WHICH = {
  id: operations.get.params.shape.id.optional(),
  key: operations.getByKey.params.shape.key
    .optional()
    .meta({ description: 'Instead of the id: the key the alarm was set with.' }),
}

/** The id of the alarm that the arguments name. */
export async function idOf(
  { id, key }: { readonly id?: string | undefined; readonly key?: string | undefined },
  work: ToolContext,
): Promise<string> {
  if ((id === undefined) === (key === undefined)) throw new WakefulError('alarm.which', {})
  if (id !== undefined) return id
  return read<{ id: string }>(await call(work, 'getByKey', { params: { key: key! } })).id
}

/** The argument that names the version an edit was made from. */
export const SEEN = {
  updated_at: operations.get.answers[200].schema.shape.updated_at.optional().meta({
    description:
      'The `updated_at` you read. The call is rejected (`conflict`) if the alarm has changed since.',
  }),
}

/** The context of an edit made from that version. */
export function withSeen(
  work: ToolContext,
  { updated_at }: { readonly updated_at?: string | undefined },
): ToolContext {
  return updated_at === undefined ? work : { ...work, context: { ...work.context, seen: updated_at } }
}
