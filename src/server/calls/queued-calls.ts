import type { OperationName } from '../../contracts/index.ts'
import type { Caller } from '../auth/index.ts'
import { FairTurns } from '../limits/index.ts'
import type { Calls } from './build-calls.ts'
import type { Around, Reply } from './call.ts'

/** A page holds some 4 MiB, and several times that until its text is made. */
const PAGES = { atOnce: 4, waitingMax: 1_000 }
/** Each holds a page for as long as it acts. */
const ACTS = { atOnce: 4, waitingMax: 100 }
/** Each holds its items, which were read already when its turn comes. */
const BATCHES = { atOnce: 4, waitingMax: 100, allMax: 200 }
/** Enough for sets to be committed together; no more are begun in one turn of the event loop. */
const OTHERS = { atOnce: 128, waitingMax: 10_000 }

type AnyCall = (input: unknown, around: Around) => Reply | Promise<Reply>

/** The turns of whatever reads a page. */
export function pageTurns(): FairTurns {
  return new FairTurns(PAGES)
}

/** The calls, each in its turn: however many one caller sends, and however much each takes, others are answered in between. */
export function inTurns(calls: Calls, pages: FairTurns): Calls {
  const others = new FairTurns(OTHERS)
  const own: Readonly<Partial<Record<OperationName, FairTurns | null>>> = {
    list: pages,
    history: pages,
    failed: pages,
    events: pages,
    calendar: pages,
    act: new FairTurns(ACTS),
    setMany: new FairTurns(BATCHES),
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
  turns: FairTurns,
  around: { readonly caller: Caller; readonly signal?: AbortSignal },
  work: () => T | Promise<T>,
): Promise<T> {
  return turns.take(around.caller, around, work)
}
