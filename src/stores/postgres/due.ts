import { type HeldTimers, type Lease, type TakeRequest, TIMER_COLUMNS, type Values } from '../index.ts'
import type { Look, Lookout } from './lookout.ts'
import * as sql from './queries.ts'
import type { Session } from './session.ts'

const ID = TIMER_COLUMNS.indexOf('id')
const SHARD = TIMER_COLUMNS.indexOf('shard')
const WAKE_AT = TIMER_COLUMNS.indexOf('wake_at')
const VERSION = TIMER_COLUMNS.indexOf('version')
const LOCKED = TIMER_COLUMNS.length
/** Few are read of each shard, but no fewer than this: the most overdue of all come first. */
const PER_SHARD_MIN = 16

/** What a first look at the shards tells. */
export interface Peek {
  /** The first wake of each shard. */
  readonly firsts: ReadonlyMap<number, number>
  /** The shards whose first one is held: there may be more behind it. */
  readonly hidden: readonly number[]
  /** Leases that turned out to be another's by now. */
  readonly lost: readonly Lease[]
}

/** Looks when each shard wakes next. Writes nothing and locks nothing. */
export async function peek(
  session: Session,
  leases: readonly Lease[],
  held: HeldTimers,
  lookout: Lookout,
  now: number,
): Promise<Peek> {
  if (leases.length === 0) return { firsts: new Map(), hidden: [], lost: [] }
  return lookout.looking((look) => peekLooking(session, leases, held, lookout, look, now))
}

async function peekLooking(
  session: Session,
  leases: readonly Lease[],
  held: HeldTimers,
  lookout: Lookout,
  look: Look,
  now: number,
): Promise<Peek> {
  const rows = (await session.rows(
    sql.peekShards,
    leases.map(({ shard }) => shard),
    leases.map(({ epoch }) => epoch),
    leases.map(({ shard }) => lookout.low(shard)),
    leases[0]!.owner,
  )) as PeekValues[]
  const firsts = new Map<number, number>()
  const hidden: number[] = []
  for (const [shard, id, version, wakeAt] of rows) {
    lookout.raise(shard, wakeAt ?? Math.max(now, lookout.low(shard)), look)
    if (wakeAt === null) continue
    firsts.set(shard, wakeAt)
    if (held.has(id, version)) hidden.push(shard)
  }
  const own = new Set(rows.map(([shard]) => shard))
  return { firsts, hidden, lost: leases.filter(({ shard }) => !own.has(shard)) }
}

/** The earliest wake that is not held: held ones that stand first are passed over by a wider look. */
export async function nextFree(
  session: Session,
  leases: readonly Lease[],
  held: HeldTimers,
  lookout: Lookout,
  now: number,
): Promise<number | null> {
  const { firsts, hidden } = await peek(session, leases, held, lookout, now)
  const free = [...firsts].filter(([shard]) => !hidden.includes(shard)).map(([, wakeAt]) => wakeAt)
  if (hidden.length > 0) {
    const lows = hidden.map((shard) => lookout.low(shard))
    const rows = (await session.rows(sql.nextTimers, hidden, lows, held.size + 1)) as NextValues[]
    free.push(...rows.filter(([, id, version]) => !held.has(id, version)).map(([, , , wakeAt]) => wakeAt))
  }
  return free.length === 0 ? null : Math.min(...free)
}

type PeekValues = [number, number, number, number | null]
type NextValues = [number, number, number, number]

/** Due rows that may be taken, the most overdue first. */
export interface DueLook {
  readonly rows: readonly Values[]
  /** Whether more is due than was read. */
  readonly more: boolean
}

/** Reads what is due in shards that are locked already, passing over what is held. */
export async function readDue(
  session: Session,
  shards: readonly number[],
  request: TakeRequest,
  lookout: Lookout,
): Promise<DueLook> {
  const { held, limit, context } = request
  const count = Math.max(1, shards.length)
  const perShard = Math.min(limit, Math.max(PER_SHARD_MIN, 2 * Math.ceil(limit / count)))
  const heldPerShard = held.size === 0 ? 0 : Math.ceil((1.5 * held.size) / count) + 4
  const isFree = (row: Values) => !held.has(row[ID] as number, row[VERSION] as number)
  const look = async (of: readonly number[], asked: number) => {
    const lows = of.map((shard) => lookout.low(shard))
    const rows = await session.rows(sql.dueTimers, of, lows, context.now, asked)
    return Map.groupBy(rows, (row) => row[SHARD] as number)
  }
  const asked = perShard + heldPerShard
  const found = await look(shards, asked)
  const crowded = [...found].filter(
    ([, rows]) => rows.length === asked && rows.filter(isFree).length < perShard,
  )
  if (crowded.length > 0) {
    const wider = await look(
      crowded.map(([shard]) => shard),
      perShard + held.size,
    )
    for (const [shard, rows] of wider) found.set(shard, rows)
  }
  const cut = [...found.values()].some((rows) => rows.filter(isFree).length >= perShard)
  const free = [...found.values()].flat().filter(isFree).sort(byWake)
  return { rows: free.slice(0, limit), more: free.length >= limit || (cut && free.length >= perShard) }
}

function byWake(a: Values, b: Values): number {
  return (a[WAKE_AT] as number) - (b[WAKE_AT] as number) || (a[ID] as number) - (b[ID] as number)
}

/** What is due and free, and whether something due is locked by a transaction that is still open. */
export interface Unlocked {
  readonly rows: readonly Values[]
  readonly waits: boolean
}

/**
 * Leaves out what an open transaction is about to change: a cancel that came in time and is yet to commit must win. Rows
 * that were locked once are read anew, since whoever locked them may have changed them.
 */
export async function withoutLocked(
  session: Session,
  rows: readonly Values[],
  request: TakeRequest,
): Promise<Unlocked> {
  const marked = rows.filter((row) => row[LOCKED] !== '0').map((row) => row[ID] as number)
  if (marked.length === 0) return { rows, waits: false }
  const free = new Set((await session.rows(sql.lockFreeTimers, marked)).map(([id]) => id as number))
  const again = new Map(
    (await session.rows(sql.timersById, [...free])).map((row) => [row[ID] as number, row]),
  )
  const still = rows.flatMap((row) => {
    if (row[LOCKED] === '0') return [row]
    const now = again.get(row[ID] as number)
    if (now === undefined || now[SHARD] !== row[SHARD]) return []
    const wakeAt = now[WAKE_AT] as number | null
    const isDue = wakeAt !== null && wakeAt <= request.context.now
    return isDue && !request.held.has(now[ID] as number, now[VERSION] as number) ? [now] : []
  })
  return { rows: still, waits: free.size < marked.length }
}
