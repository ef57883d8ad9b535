import { display, WakefulError } from '../../error.ts'

/** The pool of the targets every process can run. */
export const BUILT_IN_POOL = 'wakeful'

/** The pool of an application's handlers where it names none. */
export const DEFAULT_POOL = 'app'

/** So many pools alarms may name in one store: each has a clock of its own, which is looked after whether or not anybody runs it. */
export const POOLS_MAX = 100

const ALWAYS: ReadonlySet<string> = new Set([BUILT_IN_POOL, DEFAULT_POOL])

/** Whether an alarm may make this many more pools, where so many are there. Those that have a name of Wakeful's own are always made. */
export function assertPoolsFit(fresh: readonly string[], known: number): void {
  const named = fresh.filter((pool) => !ALWAYS.has(pool))
  if (named.length === 0 || known + named.length <= POOLS_MAX) return
  throw new WakefulError('pool.too_many', { pool: display(named[0]), max: POOLS_MAX })
}
