import { display, WakefulError } from '../../error.ts'

/** The pool of the targets every process can run. */
export const BUILT_IN_POOL = 'wakeful'

/** The pool of an application's handlers where it names none. */
export const DEFAULT_POOL = 'app'

/** The number of pools that alarms may create in one store: each one costs shards and heartbeat work. */
export const POOLS_MAX = 100

const ALWAYS: ReadonlySet<string> = new Set([BUILT_IN_POOL, DEFAULT_POOL])

/** Whether alarms may create this many more pools. Wakeful's own pools are always created. */
export function assertPoolsFit(fresh: readonly string[], known: number): void {
  const named = fresh.filter((pool) => !ALWAYS.has(pool))
  if (named.length === 0 || known + named.length <= POOLS_MAX) return
  throw new WakefulError('pool.too_many', { pool: display(named[0]), max: POOLS_MAX })
}
