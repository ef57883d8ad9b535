import type { Scope, Serial } from '../../../alarm/index.ts'
import { type ClaimRequest, type Lease, ownerKey, TIMER_COLUMNS, type Values } from '../../index.ts'
import type { FairScan } from '../../sharded/index.ts'
import type { Session } from '../connection/index.ts'
import type { DueScan } from './due.ts'

const TIMER = TIMER_COLUMNS.join(', ')

/** Owners that one look goes through; the next one starts behind them. */
const OWNERS_MAX = 64
/** Looks that follow each other at once while nobody is found due. */
const PAGES_MAX = 8
/** Rows of one owner that are passed over because other processes have their shards. */
const OTHERS_MAX = 1_000
const EACH_MIN = 8
/** How soon those are asked who have been due for long, beside so much that is newer. */
const LOOK_AGAIN_MS = 200
/** Of each shard: what came due last, and what comes next. */
const NEWEST_MAX = 16
const UPCOMING_MAX = 4
const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

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

/** Asked of the shard with a plus: the order is that of the owner, never the shard's. */
const OF_OWNER = 'tenant = o.tenant AND owner = o.owner'
const POSITION = 'id, version, shard, wake_at'

/** The statements of a look that goes owner by owner: none of them reads what a crowding tenant has due. */
export const FAIR_QUERIES = {
  /**
   * What each of them is due in these shards, narrow, and the first that is not due yet. Whoever has nothing here has a
   * row too: the last one tells where the next look starts.
   */
  pending: `${OWNERS}
    SELECT o.tenant, o.owner, o.n::bigint, t.id, t.version, t.shard, t.wake_at FROM owners o LEFT JOIN LATERAL (
      (SELECT ${POSITION} FROM (SELECT ${POSITION} FROM wakeful.timers WHERE ${OF_OWNER} AND wake_at <= $5::bigint
          ORDER BY wake_at, id LIMIT ${OTHERS_MAX}) d WHERE shard = ANY($4::int[]) LIMIT $6::bigint)
      UNION ALL
      (SELECT ${POSITION} FROM wakeful.timers WHERE ${OF_OWNER} AND wake_at > $5::bigint AND shard + 0 = ANY($4::int[])
        ORDER BY wake_at, id LIMIT 1)) t ON NOT o.tenant = ANY($1::text[])`,
  /**
   * What came due last in these shards, and what comes next: who is avoided has a backlog, and whoever else comes due stands
   * behind it. So they are found at once, however many owners there are.
   */
  nearest: `SELECT t.tenant, t.owner, t.id, t.version, s.shard, t.wake_at FROM unnest($1::int[]) AS s (shard) CROSS JOIN LATERAL (
      (SELECT tenant, owner, id, version, wake_at FROM wakeful.timers WHERE shard = s.shard AND wake_at <= $2::bigint
        ORDER BY wake_at DESC, id DESC LIMIT ${NEWEST_MAX})
      UNION ALL
      (SELECT tenant, owner, id, version, wake_at FROM wakeful.timers WHERE shard = s.shard AND wake_at > $2::bigint
        ORDER BY wake_at, id LIMIT ${UPCOMING_MAX})) t`,
  /** The same rows when their shards are locked, as they are now; the last column as in `dueTimers`. */
  found: `SELECT ${TIMER}, xmax::text FROM wakeful.timers WHERE id = ANY($1::bigint[]) AND wake_at <= $2::bigint`,
} as const

type PendingValues = [
  tenant: string,
  owner: string,
  n: number,
  id: Serial | null,
  version: number,
  shard: number,
  wakeAt: number,
]

interface Found extends Scope {
  readonly id: Serial
  readonly version: number
  readonly shard: number
  readonly wakeAt: number
}

/** A look by owner says nothing about how far a shard was seen. */
const NOTHING: DueScan['found'] = new Map()
const FIRST: Scope = { tenant: '', owner: '' }

/** Looks owner by owner, from where the look before ended: with many of them, each comes to its turn. */
export class FairScans {
  #after: Scope = FIRST

  async scan(session: Session, leases: readonly Lease[], request: ClaimRequest): Promise<FairScan> {
    const { limit, context } = request
    const near = await nearest(session, leases, request)
    const isNear = near.some(({ wakeAt }) => wakeAt <= context.now)
    const wakes = near.map(({ wakeAt }) => wakeAt).filter((wakeAt) => wakeAt > context.now)
    let due: Found[] = []
    let pages = 0
    do {
      const found = [...near, ...(await this.#page(session, leases, request))]
      due = onlyOnce(found.filter(({ wakeAt }) => wakeAt <= context.now))
      wakes.push(...found.map(({ wakeAt }) => wakeAt).filter((wakeAt) => wakeAt > context.now))
      pages += 1
    } while (!isNear && due.length === 0 && this.#after !== FIRST && pages < PAGES_MAX)
    const more = due.length > limit
    // Those who come before the rank where this look began, or after the one where it ended, are not known.
    if (pages > 1 || this.#after !== FIRST) wakes.push(context.now + LOOK_AGAIN_MS)
    const nextWakeAt = more ? context.now : wakes.length === 0 ? null : Math.min(...wakes)
    return { due: fairly(due, limit), more, nextWakeAt }
  }

  /** Some owners' first rows that are not held. Held ones that stand first are passed over by a wider look. */
  async #page(session: Session, leases: readonly Lease[], request: ClaimRequest): Promise<Found[]> {
    const { inFlight, limit, context, avoid } = request
    const [shards, after] = [leases.map(({ shard }) => shard), this.#after]
    const each = Math.max(EACH_MIN, Math.ceil(limit / 4))
    const ask = async (most: number) => {
      const values = [[...avoid!], after.tenant, after.owner, shards, context.now, most] as const
      return (await session.rows(FAIR_QUERIES.pending, ...values)) as PendingValues[]
    }
    const free = (rows: readonly PendingValues[]) =>
      rows.flatMap(foundOf).filter((each) => isFree(each, request))
    let rows = await ask(each)
    if (inFlight.size > 0 && isHidden(rows, free(rows), each, context.now))
      rows = await ask(each + inFlight.size)
    const last = rows.at(-1)
    const isCut = last !== undefined && last[2] >= OWNERS_MAX
    this.#after = isCut ? { tenant: last[0], owner: last[1] } : FIRST
    return free(rows)
  }
}

/** What is near in the order of the due index and may be had. */
async function nearest(session: Session, leases: readonly Lease[], request: ClaimRequest): Promise<Found[]> {
  const shards = leases.map(({ shard }) => shard)
  const rows = (await session.rows(FAIR_QUERIES.nearest, shards, request.context.now)) as NearValues[]
  return rows
    .map(([tenant, owner, id, version, shard, wakeAt]) => ({ tenant, owner, id, version, shard, wakeAt }))
    .filter((each) => isFree(each, request))
    .sort((a, b) => a.wakeAt - b.wakeAt)
}

type NearValues = [tenant: string, owner: string, id: Serial, version: number, shard: number, wakeAt: number]

function isFree(found: Found, { inFlight, avoid, avoidOwners }: ClaimRequest): boolean {
  if (inFlight.has(found.id, found.version) || avoid!.has(found.tenant)) return false
  return avoidOwners?.has(ownerKey(found)) !== true
}

function onlyOnce(found: readonly Found[]): Found[] {
  return [...new Map(found.map((each) => [each.id, each])).values()]
}

function foundOf([tenant, owner, , id, version, shard, wakeAt]: PendingValues): Found[] {
  return id === null ? [] : [{ tenant, owner, id, version, shard, wakeAt }]
}

/** Whether an owner's rows ended with held ones, so that what stands behind them was not seen. */
function isHidden(
  rows: readonly PendingValues[],
  free: readonly Found[],
  each: number,
  now: number,
): boolean {
  const dueOf = (found: readonly Found[]) =>
    Map.groupBy(
      found.filter(({ wakeAt }) => wakeAt <= now),
      ownerKey,
    )
  const freeDue = dueOf(free)
  return [...dueOf(rows.flatMap(foundOf))].some(
    ([owner, all]) => all.length === each && (freeDue.get(owner)?.length ?? 0) < each,
  )
}

/** A little of each owner's, by turns. */
function fairly(due: readonly Found[], limit: number): readonly Found[] {
  if (due.length <= limit) return due
  const queues = [...Map.groupBy(due, ownerKey).values()]
  const chosen: Found[] = []
  for (let rank = 0; chosen.length < limit; rank++) {
    for (const queue of queues) if (chosen.length < limit && rank < queue.length) chosen.push(queue[rank]!)
  }
  return chosen
}

/** Reads what a look has found again, by a statement that begins when the shards are locked (hazard 4). */
export async function readFair(session: Session, look: FairScan, request: ClaimRequest): Promise<DueScan> {
  const ids = look.due.map(({ id }) => id)
  const rows = await session.rows(FAIR_QUERIES.found, ids, request.context.now)
  const byId = new Map(rows.map((row) => [row[ID] as Serial, row]))
  const free = ids.flatMap((id): Values[] => {
    const row = byId.get(id)
    return row === undefined || request.inFlight.has(id, row[VERSION] as number) ? [] : [row]
  })
  return { rows: free, more: look.more, found: NOTHING }
}
