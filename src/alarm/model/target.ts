import { display, WakefulError } from '../../error.ts'
import { assertText, type Target } from '../fields/index.ts'

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

/** Refuses names that could not stand in a file's name or a subject. */
export function assertPool(pool: unknown): string {
  const name = assertText('pool', pool, 64)
  if (/^[a-z0-9][a-z0-9_-]*$/.test(name)) return name
  throw new WakefulError('pool.malformed', { name: JSON.stringify(name) }, { field: 'pool' })
}

/** The name by which an operator pauses a target; a webhook is named by its normalized URL. */
export function targetKey({ kind, name }: Pick<Target, 'kind' | 'name'>): string {
  return `${kind} ${kind === 'webhook' && URL.canParse(name) ? addressOf(new URL(name)) : name}`
}

/** The part of a URL that is sent; an empty query is dropped. */
function addressOf(url: URL): string {
  return `${originOf(url)}${url.pathname}${url.search}`
}

/** The normalized host of a URL: a trailing dot makes no difference. */
export function originOf({ origin }: URL): string {
  return origin.replace(/\.(?=(?::\d+)?$)/, '')
}
