import { type Clock, Yielder } from '../time/index.ts'

/** How many items of a batch are resolved before other work gets a turn. */
const RESOLVED_PER_TURN = 20

/** Does work for each item of a batch, and lets other work of the process run in between. */
export async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T, at: number) => R,
  clock: Clock,
): Promise<R[]> {
  const yielder = new Yielder(clock, RESOLVED_PER_TURN)
  const results: R[] = []
  for (const [at, item] of items.entries()) {
    if (at > 0) await yielder.afterItem()
    results.push(work(item, at))
  }
  return results
}
