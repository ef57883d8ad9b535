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

/** What a tool works with: the calls of the API, made as whoever called the tool. */
export interface ToolContext {
  readonly calls: ToolCalls
  readonly context: CallContext
  readonly now: () => number
}

/** What a tool answers: the wire's JSON, and words an agent can act on. */
export interface ToolAnswer {
  /** As text, so that what users wrote is never parsed on its way (promise: verbatim). */
  readonly json: string
  readonly text: string
}

/** What clients may tell their users of a tool before it is called. */
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
  /** The call of the API that it is; its rights are the tool's. */
  readonly operation: ToolOperation
  readonly input: I
  /** Left out where it is an alarm: repeated in every tool, its schema would be most of what a model has to read. */
  readonly output?: z.ZodObject
  readonly hints: Hints
  /** What to do about a refusal, where that is another thing than elsewhere. */
  readonly advice?: Advice
  readonly run: (args: z.output<I>, work: ToolContext) => Promise<ToolAnswer>
}

/** A tool, its arguments' types kept while it is written. */
export function tool<I extends z.ZodObject>(given: Tool<I>): Tool {
  return given as unknown as Tool
}

/** What changes nothing. */
export const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

/** What changes something, and takes nothing away. */
export const WRITES: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false }

type Parts<N extends ToolOperation> = Partial<Input<(typeof operations)[N]>>

/** Makes a call of the API as whoever called the tool: with their rights, and no others. */
export async function call<N extends ToolOperation>(
  work: ToolContext,
  name: N,
  given: Parts<N>,
): Promise<Reply> {
  const { rights } = operations[name]
  const { caller } = work.context
  if (!includes(caller.rights, rights))
    throw new WakefulError(
      'forbidden',
      `this needs a key with ${rights} rights; yours has ${caller.rights} rights`,
    )
  const input = { params: {}, query: {}, body: {}, ...given }
  return await (work.calls[name] as (input: unknown, context: CallContext) => Reply | Promise<Reply>)(
    input,
    work.context,
  )
}

/** What a call answered, to be read: digits beyond 2^53 are in its text alone. */
export function read<T>({ json }: Reply): T {
  return JSON.parse(json) as T
}
