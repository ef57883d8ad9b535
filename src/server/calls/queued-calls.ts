import type { OperationName } from '../../contracts/index.ts'
import type { Caller } from '../auth/index.ts'
import { RequestQueue } from '../limits/index.ts'
import type { Calls } from './build-calls.ts'
import type { CallContext, Reply } from './call.ts'

/** A page holds some 4 MiB, and several times that until its text is made. */
const PAGES = { atOnce: 4, waitingMax: 1_000 }
/** Each holds a page for as long as it acts. */
const ACTS = { atOnce: 4, waitingMax: 100 }
/** Each holds its items, which were read already when its turn comes. */
const BATCHES = { atOnce: 4, waitingMax: 100, allMax: 200 }
/** Enough for sets to be committed together; no more are begun in one turn of the event loop. */
const OTHERS = { atOnce: 128, waitingMax: 10_000 }

type AnyCall = (input: unknown, around: CallContext) => Reply | Promise<Reply>

/** The turns of whatever reads a page. */
export function pageQueue(): RequestQueue {
  return new RequestQueue(PAGES)
}

/** The calls, each in its turn: however many one caller sends, and however much each takes, others are answered in between. */
export function queuedCalls(calls: Calls, pages: RequestQueue): Calls {
  const others = new RequestQueue(OTHERS)
  const own: Readonly<Partial<Record<OperationName, RequestQueue | null>>> = {
    list: pages,
    history: pages,
    failed: pages,
    events: pages,
    calendar: pages,
    act: new RequestQueue(ACTS),
    setMany: new RequestQueue(BATCHES),
    // These wait by themselves, and what they read takes its turn where it is read.
    inbox: null,
    stream: null,
  }
  const turned = (Object.entries(calls) as [OperationName, AnyCall][]).map(([name, call]) => {
    const turns = own[name] === undefined ? others : own[name]
    if (turns === null) return [name, call]
    const inOrder: AnyCall = (input, around) => inTurn(turns, around, () => call(input, around))
    return [name, inOrder]
  })
  return Object.fromEntries(turned) as Calls
}

/** Does what a caller asks for when it is their turn. */
export function inTurn<T>(
  turns: RequestQueue,
  around: { readonly caller: Caller; readonly signal?: AbortSignal },
  work: () => T | Promise<T>,
): Promise<T> {
  return turns.take(around.caller, around, work)
}
