import type { CallToolResult } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { operations } from '../../contracts/index.ts'
import { type ErrorCode, WakefulError } from '../../error.ts'
import { RawJson } from '../../json/index.ts'
import { humanizeDuration } from '../../time/index.ts'
import { assertMay } from '../auth/index.ts'
import type { alarmCalls, CallContext, CallsOf, inboxCalls, Reply, readCalls } from '../calls/index.ts'
import { problemOf } from '../http/index.ts'

/** The calls that tools are made of: all that need no server. */
type ToolOperation = keyof (typeof readCalls & ReturnType<typeof alarmCalls> & ReturnType<typeof inboxCalls>)

/** What a tool works with: the calls of the API, made as the tool's caller. */
export interface ToolContext {
  readonly calls: CallsOf<ToolOperation>
  readonly context: CallContext
  readonly now: () => number
}

/** What a tool answers: JSON as on the wire, and text for the agent. */
export interface ToolAnswer {
  /** As text, so that what users wrote is returned exactly as it was sent (promise: verbatim). */
  readonly json: string
  readonly text: string
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
  /** What clients may show their users before a tool is called. */
  readonly hints: typeof READS
  /** Advice on errors that differs from the general one. */
  readonly advice?: Partial<typeof ADVICE>
  readonly run: (args: z.output<I>, work: ToolContext) => Promise<ToolAnswer>
}

/** Defines a tool; `run` is checked against the types of its arguments. */
export function tool<I extends z.ZodObject>(definition: Tool<I>): Tool {
  return definition as unknown as Tool
}

/** Hints of a tool that changes nothing. */
export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

/** Hints of a tool that changes something and destroys nothing. */
export const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false }

type Parts<N extends ToolOperation> = Partial<Parameters<CallsOf<ToolOperation>[N]>[0]>

/** Makes a call of the API as the tool's caller, with its rights. */
export async function call<N extends ToolOperation>(
  work: ToolContext,
  name: N,
  parts: Parts<N>,
): Promise<Reply> {
  assertMay(work.context.caller, operations[name].rights)
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
  return read<{ id: string }>(await call(work, 'get', { params: { key: key! } })).id
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

/** What an agent can do about each refusal. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Correct what is named above and call again.',
  invalid_time:
    'Write the time in another way, such as "in 20 minutes", "tomorrow at 9am" with a timezone, or fire_at "2030-01-01T09:00:00Z"; `preview` shows how it is read.',
  invalid_rule: 'Correct the rule; `preview` shows its instants without setting anything.',
  invalid_timezone: 'Use an IANA name such as "Europe/Rome", "America/New_York" or "UTC".',
  payload_too_large: 'Store the data elsewhere and put a reference to it into the payload.',
  unauthorized: 'The key is missing or invalid: ask the operator of the server for another.',
  forbidden: 'Ask the operator of the server for a key that may do this.',
  not_found: '`list` shows your alarms; you see only your own, and ended ones for 30 days.',
  conflict: 'Read it again with `get`, decide again, and call again with its updated_at.',
  already_ended: 'It cannot be changed any more: `why` shows how it ended, `set` creates another.',
  cursor_expired: 'Start again without a cursor.',
  quota_exceeded: 'Cancel alarms that are no longer needed, or set fewer.',
  rate_limited: 'Wait, then call again.',
  store_unavailable: 'Call again in a few seconds; with an idempotency_key a repeated `set` is harmless.',
  schema_too_new: 'The operator has to upgrade the server.',
  internal: 'This is an internal error. The server has logged it. Try once more later.',
}

/** A refusal as a tool's answer: the stable code, what was wrong, what to change, and the problem as JSON. */
export function refusalResult(
  thrown: unknown,
  audience: Parameters<typeof problemOf>[1] = 'callers',
  advice: Partial<typeof ADVICE> = {},
): CallToolResult {
  const problem = problemOf(thrown, audience, 'mcp')
  const retryAfterMs = thrown instanceof WakefulError ? thrown.retryAfterMs : undefined
  const wait =
    retryAfterMs === undefined ? '' : ` Try again in ${humanizeDuration(Math.max(1000, retryAfterMs))}.`
  return {
    isError: true,
    content: [
      {
        type: 'text',
        text: `${problem.code}: ${problem.detail}\n${advice[problem.code] ?? ADVICE[problem.code]}${wait}`,
      },
      { type: 'text', text: JSON.stringify(problem) },
    ],
  }
}

/** JSON in which values kept as text are written unchanged, at any depth (promise: verbatim). */
export function exactText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map((item) => exactText(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${exactText(field)}`).join(',')}}`
}
