import type { OperationName } from '../../contracts/index.ts'
import type { Caller } from '../caller.ts'
import type { Around, Reply } from './call.ts'
import { FairTurns } from './fair-turns.ts'
import type { Calls } from './index.ts'

/** A page holds some 4 MiB, and several times that until its text is made. */
const PAGES = { atOnce: 4, waitingMax: 1_000 }
const PAGED: ReadonlySet<string> = new Set<OperationName>(['list', 'history', 'failed', 'events', 'calendar'])
/** Each holds a page for as long as it acts. */
const ACTS = { atOnce: 4, waitingMax: 100 }
/** Each holds its items, which were read already when its turn comes. */
const BATCHES = { atOnce: 4, waitingMax: 100, allMax: 200 }
/** Enough for sets to be committed together; no more are begun in one turn of the event loop. */
const OTHERS = { atOnce: 128, waitingMax: 10_000 }
/** These wait by themselves, and what they read takes its turn where it is read. */
const WAITING: ReadonlySet<string> = new Set<OperationName>(['inbox', 'stream'])

type AnyCall = (input: unknown, around: Around) => Reply | Promise<Reply>

/** The turns of whatever reads a page. */
export function pageTurns(): FairTurns {
  return new FairTurns(PAGES)
}

/** The calls, each in its turn: however many one caller sends, and however much each takes, others are answered in between. */
export function inTurns(calls: Calls, pages: FairTurns): Calls {
  const [acts, batches, others] = [new FairTurns(ACTS), new FairTurns(BATCHES), new FairTurns(OTHERS)]
  const turnsOf = (name: string) => {
    if (PAGED.has(name)) return pages
    return { act: acts, setMany: batches }[name] ?? others
  }
  const turned = Object.entries(calls as unknown as Record<string, AnyCall>).map(([name, call]) => {
    if (WAITING.has(name)) return [name, call]
    const turns = turnsOf(name)
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
