import { type Serial, stepped } from '../../../alarm/index.ts'
import {
  type ClaimRequest,
  type InFlightTimers,
  type Lease,
  TIMER_COLUMNS,
  type Values,
} from '../../index.ts'
import type { NextWakeCache, Position } from '../../sharded/index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

const ID = TIMER_COLUMNS.indexOf('id')
const SHARD = TIMER_COLUMNS.indexOf('shard')
const WAKE_AT = TIMER_COLUMNS.indexOf('wake_at')
const VERSION = TIMER_COLUMNS.indexOf('version')
const LOCKED = TIMER_COLUMNS.length
/** Read of each shard beyond its even part: the most overdue of all come first, wherever they are. */
const SPREAD = 1.25
const PER_SHARD_MORE = 8

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
  held: InFlightTimers,
  lookout: NextWakeCache,
  now: number,
): Promise<Peek> {
  if (leases.length === 0) return { firsts: new Map(), hidden: [], lost: [] }
  const firsts = new Map<number, number>()
  const hidden: number[] = []
  const rows = await lookout.scan(async (look) => {
    const shards = leases.map(({ shard }) => shard)
    const epochs = leases.map(({ epoch }) => epoch)
    const found = await session.rows(
      sql.peekShards,
      shards,
      epochs,
      ...lookout.lowerBounds(shards),
      leases[0]!.holder,
    )
    for (const [shard, id, , wakeAt] of found as PeekValues[]) {
      // Just before the first; up to now where there is none.
      const low = lookout.lowerBound(shard)
      const upTo =
        wakeAt === null ? { wakeAt: Math.max(now, low.wakeAt), id: 0 } : { wakeAt, id: stepped(id, -1) }
      lookout.raise(look, shard, upTo)
    }
    return found as PeekValues[]
  })
  for (const [shard, id, version, wakeAt] of rows) {
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
  held: InFlightTimers,
  lookout: NextWakeCache,
  now: number,
): Promise<number | null> {
  const { firsts, hidden } = await peek(session, leases, held, lookout, now)
  const free = [...firsts].filter(([shard]) => !hidden.includes(shard)).map(([, wakeAt]) => wakeAt)
  if (hidden.length > 0) {
    const rows = (await session.rows(
      sql.nextTimers,
      hidden,
      ...lookout.lowerBounds(hidden),
      held.size + 1,
    )) as NextValues[]
    free.push(...rows.filter(([, id, version]) => !held.has(id, version)).map(([, , , wakeAt]) => wakeAt))
  }
  return free.length === 0 ? null : Math.min(...free)
}

type PeekValues = [number, Serial, number, number | null]
type NextValues = [number, Serial, number, number]

/** Due rows that may be taken, the most overdue first. */
export interface DueScan {
  readonly rows: readonly Values[]
  /** Whether more is due than was read. */
  readonly more: boolean
  /** Everything that was read, by shard and in order, also what is held. */
  readonly found: ReadonlyMap<number, readonly Values[]>
}

/** Reads what is due in shards that are locked already, passing over what is held. */
export async function readDue(
  session: Session,
  shards: readonly number[],
  request: ClaimRequest,
  lookout: NextWakeCache,
): Promise<DueScan> {
  const { inFlight: held, limit, context } = request
  const count = Math.max(1, shards.length)
  const perShard = Math.min(limit, Math.ceil((SPREAD * limit) / count) + PER_SHARD_MORE)
  const isFree = (row: Values) => !held.has(row[ID] as Serial, row[VERSION] as number)
  // Mostly what is held lies before the place where the look begins. Where it does not, the look becomes wider.
  const heldPerShard = Math.ceil((1.5 * held.size) / count) + PER_SHARD_MORE
  const look = async (more: number) => {
    const [asked, ofAll] = [perShard + more, limit + (more === 0 ? 0 : held.size)]
    const lows = lookout.lowerBounds(shards)
    const rows = await session.rows(sql.dueTimers, shards, ...lows, context.now, asked, ofAll)
    const found = Map.groupBy(rows, (row) => row[SHARD] as number)
    const cut = [...found.values()].filter((own) => own.length === asked)
    const free = rows.filter(isFree)
    const isFull = free.length >= limit
    const isCrowded = rows.length === ofAll || cut.some((own) => own.filter(isFree).length < perShard)
    return {
      due: { rows: free.slice(0, limit), more: isFull || cut.length > 0, found },
      isCrowded: !isFull && isCrowded,
    }
  }
  let { due, isCrowded } = await look(0)
  if (isCrowded) ({ due, isCrowded } = await look(heldPerShard))
  return isCrowded ? (await look(held.size)).due : due
}

/** How far each shard holds nothing any more but what is held, or taken now: the next look begins there. */
export function passed(
  found: DueScan['found'],
  held: InFlightTimers,
  taken: ReadonlySet<Serial>,
): Map<number, Position> {
  const places = new Map<number, Position>()
  for (const [shard, rows] of found) {
    for (const row of rows) {
      const id = row[ID] as Serial
      if (!taken.has(id) && !held.has(id, row[VERSION] as number)) break
      places.set(shard, { wakeAt: row[WAKE_AT] as number, id })
    }
  }
  return places
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
  request: ClaimRequest,
): Promise<Unlocked> {
  const marked = rows.filter((row) => row[LOCKED] !== '0').map((row) => row[ID] as Serial)
  if (marked.length === 0) return { rows, waits: false }
  const free = new Set((await session.rows(sql.lockFreeTimers, marked)).map(([id]) => id as Serial))
  const again = new Map(
    (await session.rows(sql.timersById, [...free])).map((row) => [row[ID] as Serial, row]),
  )
  const still = rows.flatMap((row) => {
    if (row[LOCKED] === '0') return [row]
    const now = again.get(row[ID] as Serial)
    if (now === undefined || now[SHARD] !== row[SHARD]) return []
    const wakeAt = now[WAKE_AT] as number | null
    const isDue = wakeAt !== null && wakeAt <= request.context.now
    return isDue && !request.inFlight.has(now[ID] as Serial, now[VERSION] as number) ? [now] : []
  })
  return { rows: still, waits: free.size < marked.length }
}
