import { type Lease, type TakeRequest, TIMER_COLUMNS, type Values } from '../index.ts'
import type { DueLook } from './due.ts'
import type { Session } from './session.ts'

const TIMER = TIMER_COLUMNS.join(', ')
const T_TIMER = TIMER_COLUMNS.map((column) => `t.${column}`).join(', ')

/** Owners that one look goes through; the next one starts behind them. */
const OWNERS_MAX = 64
const LOOK_AGAIN_MS = 50
const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')
const WAKE_AT = TIMER_COLUMNS.indexOf('wake_at')

/**
 * The owners who have anything pending, from one on, found by stepping over all rows of each: a crowding tenant's million
 * are passed over at one step (hazard 10). `$1` are the tenants to avoid, `$2` and `$3` the owner before the first.
 */
const OWNERS = `WITH RECURSIVE owners AS (
    (SELECT tenant, owner, 1 AS n FROM wakeful.timers WHERE wake_at IS NOT NULL AND (tenant, owner) > ($2, $3)
      ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    SELECT next.tenant, next.owner, o.n + CASE WHEN next.tenant = ANY($1::text[]) THEN 0 ELSE 1 END FROM owners o
    CROSS JOIN LATERAL (
      (SELECT tenant, owner FROM wakeful.timers WHERE o.tenant = ANY($1::text[]) AND wake_at IS NOT NULL
        AND tenant > o.tenant ORDER BY tenant, owner LIMIT 1)
      UNION ALL
      (SELECT tenant, owner FROM wakeful.timers WHERE NOT o.tenant = ANY($1::text[]) AND wake_at IS NOT NULL
        AND (tenant, owner) > (o.tenant, o.owner) ORDER BY tenant, owner LIMIT 1)) next
    WHERE o.n < ${OWNERS_MAX})`

/** The statements of a look that goes owner by owner: none of them reads what a crowding tenant has due. */
export const FAIR_QUERIES = {
  /** What each of them is due first in these shards; one that is not due yet tells when it will be. */
  pending: `${OWNERS}
    SELECT ${T_TIMER}, t.locked, o.tenant, o.owner FROM owners o CROSS JOIN LATERAL (
      SELECT ${TIMER}, xmax::text AS locked FROM wakeful.timers WHERE tenant = o.tenant AND owner = o.owner
      AND wake_at IS NOT NULL AND shard + 0 = ANY($4::int[]) ORDER BY wake_at LIMIT $5::bigint) t
    WHERE NOT o.tenant = ANY($1::text[])`,
} as const

interface Owner {
  readonly tenant: string
  readonly owner: string
}

/** A look by owner says nothing about how far a shard was seen. */
const NOTHING: DueLook['found'] = new Map()
const FIRST: Owner = { tenant: '', owner: '' }

/** What the owners that nobody crowds are due, and when they are next. */
export interface FairLook extends DueLook {
  readonly nextWakeAt: number | null
}

/** Looks owner by owner, from where the look before ended: with many of them, each comes to its turn. */
export class FairLooks {
  #after: Owner = FIRST

  async look(session: Session, leases: readonly Lease[], request: TakeRequest): Promise<FairLook> {
    const { held, limit, context } = request
    const rows = await session.rows(
      FAIR_QUERIES.pending,
      [...request.avoid!],
      this.#after.tenant,
      this.#after.owner,
      leases.map(({ shard }) => shard),
      Math.max(2, Math.ceil(limit / 4)) + held.size,
    )
    const owners = new Map(rows.map((row) => [`${row.at(-2)}\0${row.at(-1)}`, row]))
    const last = [...owners.values()].at(-1)
    const isCut = owners.size >= OWNERS_MAX && last !== undefined
    this.#after = isCut ? { tenant: last.at(-2) as string, owner: last.at(-1) as string } : FIRST
    const free = rows.filter((row) => !held.has(row[ID] as number, row[VERSION] as number))
    const due = free.filter((row) => (row[WAKE_AT] as number) <= context.now)
    const later = free
      .filter((row) => (row[WAKE_AT] as number) > context.now)
      .map((row) => row[WAKE_AT] as number)
    const taken = fairly(due, limit)
    const next = [
      ...later,
      ...(isCut ? [context.now + LOOK_AGAIN_MS] : []),
      ...(due.length > limit ? [context.now] : []),
    ]
    return {
      rows: taken,
      more: due.length > limit,
      found: NOTHING,
      nextWakeAt: next.length === 0 ? null : Math.min(...next),
    }
  }
}

/** A little of each owner's, by turns. */
function fairly(due: readonly Values[], limit: number): Values[] {
  if (due.length <= limit) return [...due]
  const queues = [...Map.groupBy(due, (row) => `${row.at(-2)}\0${row.at(-1)}`).values()]
  const taken: Values[] = []
  for (let place = 0; taken.length < limit; place++) {
    for (const queue of queues) if (taken.length < limit && place < queue.length) taken.push(queue[place]!)
  }
  return taken
}
