import type { Operation } from '../../contracts/index.ts'
import { type Caller, ownerName } from '../caller.ts'
import type { Call } from './call.ts'
import { FairTurns } from './fair-turns.ts'
import type { Calls } from './index.ts'

/** A page holds some 4 MiB, and several times that until its text is made. */
const PAGES = { atOnce: 4, waitingMax: 1_000 }
/** Each holds a page for as long as it acts. */
const ACTS = { atOnce: 4, waitingMax: 100 }

/** Each holds its items, which were read already when its turn comes. */
const BATCHES = { atOnce: 4, waitingMax: 100, allMax: 200 }

/** The turns of whatever reads a page. */
export function pageTurns(): FairTurns {
  return new FairTurns(PAGES)
}

/** The calls, where those that hold much while they are worked on take turns. */
export function inTurns(calls: Calls, pages: FairTurns): Calls {
  const acts = new FairTurns(ACTS)
  const batches = new FairTurns(BATCHES)
  return {
    ...calls,
    list: turned(pages, calls.list),
    history: turned(pages, calls.history),
    failed: turned(pages, calls.failed),
    events: turned(pages, calls.events),
    calendar: turned(pages, calls.calendar),
    act: turned(acts, calls.act),
    setMany: turned(batches, calls.setMany),
    // Who waits for wakes keeps nobody else waiting: so many of an owner may.
    inbox: (input, around) =>
      input.query.wait === undefined ? turned(pages, calls.inbox)(input, around) : calls.inbox(input, around),
  }
}

function turned<O extends Operation>(turns: FairTurns, call: Call<O>): Call<O> {
  return (input, around) => inTurn(turns, around, () => call(input, around))
}

/** Does what a caller asks for when it is their turn. */
export function inTurn<T>(
  turns: FairTurns,
  { caller, signal }: { readonly caller: Caller; readonly signal?: AbortSignal },
  work: () => T | Promise<T>,
): Promise<T> {
  return turns.take(ownerName(caller), signal, work)
}
