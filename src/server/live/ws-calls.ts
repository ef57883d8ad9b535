import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { type Operation, type OperationName, operations, subscribeArgs } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { unknownWireField } from '../../errors/index.ts'
import { assertMay, type Caller } from '../auth/index.ts'
import { type CallContext, eventsOptions, type Reply } from '../calls/index.ts'
import { checked, problemOf } from '../http/index.ts'
import type { AppParts } from '../rest/index.ts'
import type { EventFeedOptions } from './event-feed.ts'
import { SEED_CALLS } from './seed-calls.ts'

/** What the calls about a connection itself need. */
export interface WsContext {
  readonly signal: AbortSignal
  subscribe(options: EventFeedOptions): Promise<WsResult>
  /** Whether there was such a subscription. */
  unsubscribe(name: string): boolean
}

/** A call's result as JSON text, and what happens after it was sent. */
export interface WsResult {
  readonly json: string
  /** Where the next page begins, if the result is a list and there is more. */
  readonly nextCursor?: string | null
  readonly after?: () => void
}

/** Where the WebSocket is. */
export const WS_PATH = '/v1/ws'

type Args = Readonly<Record<string, unknown>>
type WsCall = (args: Args, caller: Caller, context: WsContext) => Promise<WsResult>

/**
 * The calls of the WebSocket: those of seed 001, those about the connection, and every operation of REST by its name. The
 * first two need only the rights to read, which every key has.
 */
export class WsCalls {
  readonly #parts: AppParts
  readonly #calls: ReadonlyMap<string, WsCall>

  constructor(parts: AppParts) {
    this.#parts = parts
    this.#calls = new Map([
      ...Object.keys(operations).map((name) => [name, this.#operation(name as OperationName)] as const),
      // REST's `list` has another name here: over the WebSocket, `list` is seed 001's.
      ['alarms', this.#operation('list')],
      ...Object.entries(SEED_CALLS).map(([name, { args: schema, work }]) => {
        const run: WsCall = async (args, caller, context) => {
          const input = checked(schema, args) as never
          return parts.pages.run(caller, context, () => work(input, caller))
        }
        return [name, run] as const
      }),
      ['subscribe', subscribe],
      ['unsubscribe', unsubscribe],
    ])
  }

  /** Whether the answer may be large. An `inbox` that waits does not count: others must not wait for it. */
  mayBeLarge(call: string, args: Args): boolean {
    if (call === 'inbox') return args.wait === undefined
    if (Object.hasOwn(SEED_CALLS, call) || call === 'alarms') return true
    return Object.hasOwn(operations, call) && operations[call as OperationName].method === 'GET'
  }

  async perform(call: string, args: Args, caller: Caller, context: WsContext): Promise<WsResult> {
    const { clock, onAnswered } = this.#parts
    const startedAt = clock.monotonic()
    const run = this.#calls.get(call)
    const answered = (status: number, thrown: unknown) => {
      const route = run === undefined ? 'unmatched' : `${WS_PATH} ${call}`
      onAnswered({ method: 'WS', route, status, requestId: randomUUID(), caller, thrown }, startedAt)
    }
    try {
      if (run === undefined)
        throw new WakefulError('request.no_such_ws_call', {
          call: JSON.stringify(call.slice(0, 60)),
          known: [...this.#calls.keys()],
        })
      const result = await run(args, caller, context)
      answered(200, null)
      return result
    } catch (thrown) {
      const { status } = problemOf(thrown)
      answered(status, status >= 500 ? thrown : null)
      throw thrown
    }
  }

  #operation(name: OperationName): WsCall {
    const operation: Operation = operations[name]
    if (name === 'stream') return refuseStream
    const perform = this.#parts.calls[name] as (input: unknown, around: CallContext) => Promise<Reply>
    return async (args, caller, { signal }) => {
      assertMay(caller, operation.rights)
      const { seen, ...input } = inputOf(operation, args)
      const reply = await perform(input, { caller, signal, ...(seen !== undefined && { seen }) })
      // A result that is not JSON is sent as a string.
      return { json: reply.type === undefined ? reply.json : JSON.stringify(reply.json) }
    }
  }
}

async function refuseStream(): Promise<never> {
  throw new WakefulError('request.stream_over_ws', {})
}

async function subscribe(args: Args, _caller: Caller, context: WsContext): Promise<WsResult> {
  return context.subscribe(eventsOptions(checked(subscribeArgs, args) as z.output<typeof subscribeArgs>))
}

async function unsubscribe(args: Args, _caller: Caller, context: WsContext): Promise<WsResult> {
  const { subscription, ...rest } = args
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw unknownWireField(unknown, ['subscription'])
  if (typeof subscription !== 'string')
    throw new WakefulError(
      'field.malformed',
      { expected: 'the name that subscribe answered with' },
      { field: 'subscription' },
    )
  return { json: JSON.stringify({ unsubscribed: context.unsubscribe(subscription) }) }
}

/** The input of an operation: its parameters, query and body, which stand side by side in `args`. */
function inputOf({ params, query, body, ifMatch }: Operation, args: Args) {
  const { if_match, ...others } = args
  const rest: Args = ifMatch === true ? others : args
  const inParams = named(rest, (name) => Object.hasOwn(params?.shape ?? {}, name))
  const inQuery = named(rest, (name) => Object.hasOwn(query?.shape ?? {}, name))
  // The fields of the body, with unknown names: the check of the body, or of the query, rejects these together with what
  // else is wrong, so that the error is the same as over REST.
  const remaining = named(rest, (name) => !Object.hasOwn(inParams, name) && !Object.hasOwn(inQuery, name))
  const [first] = Object.keys(remaining)
  if (first !== undefined && body === undefined && query === undefined)
    throw unknownWireField(first, [
      ...Object.keys(params?.shape ?? {}),
      ...(ifMatch === true ? ['if_match'] : []),
    ])
  return {
    params: params === undefined ? {} : checked(params, inParams),
    query:
      query === undefined
        ? {}
        : checked(query, asTexts({ ...inQuery, ...(body === undefined && remaining) })),
    body: body === undefined ? {} : checked(body, remaining),
    ...(ifMatch === true && if_match !== undefined && { seen: seenOf(if_match) }),
  }
}

function named(args: Args, isWanted: (name: string) => boolean): Args {
  return Object.fromEntries(Object.entries(args).filter(([name]) => isWanted(name)))
}

/** In a query every value is a string. Over the WebSocket a number may also be a number. */
function asTexts(query: Args): Args {
  return Object.fromEntries(
    Object.entries(query).map(([field, value]) => [field, typeof value === 'number' ? String(value) : value]),
  )
}

function seenOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new WakefulError(
    'field.malformed',
    { expected: 'the `updated_at` you read, as a string' },
    { field: 'ifMatch' },
  )
}
