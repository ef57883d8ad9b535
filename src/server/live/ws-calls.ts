import type { z } from 'zod'
import {
  type Operation,
  type OperationName,
  operations,
  type Rights,
  subscribeArgs,
} from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { assertMay, type Caller } from '../auth/index.ts'
import { type CallContext, inTurn, type Reply } from '../calls/index.ts'
import { checked, InvalidRequest, problemOf } from '../http/index.ts'
import type { RequestQueue } from '../limits/index.ts'
import type { AppParts } from '../rest/index.ts'
import { type EventFeedOptions, typesOf } from './event-feed.ts'
import { SEED_CALLS } from './seed-calls.ts'

/** Which events a subscription is about. */
export type Subscribe = EventFeedOptions

/** What a connection lends to the calls that are about it. */
export interface WsAround {
  readonly signal: AbortSignal
  subscribe(given: Subscribe): Promise<WsResult>
  /** Whether there was such a subscription. */
  unsubscribe(name: string): boolean
}

/** A call's result as JSON text, and what is done once it is sent. */
export interface WsResult {
  readonly json: string
  /** Where the result goes on, if it is a list and there is more. */
  readonly nextCursor?: string | null
  readonly after?: () => void
}

/** What the calls work with. */
export interface WsCallsParts extends Pick<AppParts, 'calls' | 'newRequestId' | 'onAnswered' | 'monotonic'> {
  /** In which pages are read. */
  readonly pages: RequestQueue
}

/** Where the WebSocket is. */
export const WS_PATH = '/v1/ws'

type Args = Readonly<Record<string, unknown>>
type Work = (args: Args, caller: Caller, around: WsAround) => Promise<WsResult>

/** REST's list under a name of its own: over the WebSocket `list` is seed 001's. */
const ALIASES: Readonly<Record<string, OperationName>> = { alarms: 'list' }

/** The calls of the WebSocket: seed 001's, those about the connection, and every operation of REST by its name. */
export class WsCalls {
  readonly #parts: WsCallsParts
  readonly #works: ReadonlyMap<string, Work>

  constructor(parts: WsCallsParts) {
    this.#parts = parts
    this.#works = new Map([
      ...Object.keys(operations).map((name) => [name, this.#operation(name as OperationName)] as const),
      ...Object.entries(ALIASES).map(([alias, name]) => [alias, this.#operation(name)] as const),
      ...Object.entries(SEED_CALLS).map(([name, { args: schema, work }]) => {
        const run: Work = async (args, caller, { signal }) => {
          const given = checked(schema, args) as never
          return inTurn(parts.pages, { caller, signal }, () => work(given, caller))
        }
        return [name, mayRead(run)] as const
      }),
      ['subscribe', mayRead(subscribe)],
      ['unsubscribe', mayRead(unsubscribe)],
    ])
  }

  /** What lists may answer with much; `inbox` too, but where it waits others must not wait for it. */
  mayBeLarge(call: string, args: Args): boolean {
    if (call === 'inbox') return args.wait === undefined
    if (Object.hasOwn(SEED_CALLS, call) || Object.hasOwn(ALIASES, call)) return true
    return Object.hasOwn(operations, call) && operations[call as OperationName].method === 'GET'
  }

  async perform(call: string, args: Args, caller: Caller, around: WsAround): Promise<WsResult> {
    const startedAt = this.#parts.monotonic()
    const work = this.#works.get(call)
    const told = (status: number, thrown: unknown) => {
      const route = work === undefined ? 'unmatched' : `${WS_PATH} ${call}`
      const requestId = this.#parts.newRequestId()
      this.#parts.onAnswered({ method: 'WS', route, status, requestId, caller, thrown }, startedAt)
    }
    try {
      if (work === undefined)
        throw new WakefulError(
          'not_found',
          `there is no call ${JSON.stringify(call.slice(0, 60))}; there are ${[...this.#works.keys()].join(', ')}`,
        )
      const result = await work(args, caller, around)
      told(200, null)
      return result
    } catch (thrown) {
      const { status } = problemOf(thrown)
      told(status, status >= 500 ? thrown : null)
      throw thrown
    }
  }

  #operation(name: OperationName): Work {
    const operation: Operation = operations[name]
    if (name === 'stream') return refuseStream
    const perform = this.#parts.calls[name] as (input: unknown, around: CallContext) => Promise<Reply>
    return async (args, caller, { signal }) => {
      assertMay(caller, operation.rights)
      const { seen, ...input } = inputOf(operation, args)
      const reply = await perform(input, { caller, signal, ...(seen !== undefined && { seen }) })
      // What is no JSON goes as a text.
      return { json: reply.type === undefined ? reply.json : JSON.stringify(reply.json) }
    }
  }
}

function mayRead(work: Work): Work {
  const needed: Rights = 'read'
  return (args, caller, around) => {
    assertMay(caller, needed)
    return work(args, caller, around)
  }
}

async function refuseStream(): Promise<never> {
  throw new WakefulError('invalid_request', 'over the WebSocket events are followed by `subscribe`')
}

async function subscribe(args: Args, _caller: Caller, around: WsAround): Promise<WsResult> {
  const { after, alarm_id: alarmId, types } = checked(subscribeArgs, args) as z.output<typeof subscribeArgs>
  return around.subscribe({ after, alarmId, types: typesOf(types) })
}

async function unsubscribe(args: Args, _caller: Caller, around: WsAround): Promise<WsResult> {
  const { subscription, ...rest } = args
  assertKnown(Object.keys(rest), ['subscription'])
  if (typeof subscription !== 'string')
    throw new WakefulError('invalid_request', 'subscription must be the name that subscribe answered with')
  return { json: JSON.stringify({ unsubscribed: around.unsubscribe(subscription) }) }
}

/** What an operation is given: its parameters, query and body, which `args` has side by side. */
function inputOf({ params, query, body, ifMatch }: Operation, args: Args) {
  const shapes = [params?.shape ?? {}, query?.shape ?? {}, body?.shape ?? {}]
  const own = ifMatch === true ? ['if_match'] : []
  assertKnown(Object.keys(args), [...shapes.flatMap((shape) => Object.keys(shape)), ...own])
  const [inParams, inQuery, inBody] = shapes.map((shape) =>
    Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(shape, name))),
  )
  return {
    params: params === undefined ? {} : checked(params, inParams),
    query: query === undefined ? {} : checked(query, asTexts(inQuery!)),
    body: body === undefined ? {} : checked(body, inBody),
    ...(args.if_match !== undefined && { seen: seenOf(args.if_match) }),
  }
}

/** In a query everything is a text; over the WebSocket a number may be a number, and nothing else is taken for one. */
function asTexts(query: Args): Args {
  return Object.fromEntries(
    Object.entries(query).map(([field, value]) => {
      if (typeof value === 'string' || typeof value === 'number') return [field, String(value)]
      throw new InvalidRequest([{ field, detail: 'must be a text or a number' }])
    }),
  )
}

function seenOf(given: unknown): string {
  if (typeof given === 'string') return given
  throw new WakefulError('invalid_request', 'if_match must be the updated_at you saw, as a text')
}

function assertKnown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const said = `unknown field ${JSON.stringify(unknown.slice(0, 60))}`
  const detail =
    known.length === 0 ? `${said}; this call takes none` : `${said}; known are ${known.join(', ')}`
  throw new InvalidRequest([{ field: unknown.slice(0, 60), detail }], detail)
}
