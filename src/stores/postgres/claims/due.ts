import type { Serial } from '../../../alarm/index.ts'
import { type ClaimRequest, TIMER_COLUMNS, type Values } from '../../index.ts'
import type { LowerBounds, ScannedTimer } from '../../sharded/index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

const ID = TIMER_COLUMNS.indexOf('id')
const SHARD = TIMER_COLUMNS.indexOf('shard')
const WAKE_AT = TIMER_COLUMNS.indexOf('wake_at')
const VERSION = TIMER_COLUMNS.indexOf('version')
const LOCKED = TIMER_COLUMNS.length
/** Rows read per shard beyond an even share: the most overdue of all shards come first. */
const SPREAD = 1.25
const PER_SHARD_MORE = 8

/** Reads a row of `nextTimers` or `peekShards`. */
export function scannedTimer(row: Values): ScannedTimer {
  const [shard, id, version, wakeAt] = row as [number, Serial, number, number]
  return { shard, id, version, wakeAt }
}

/** Due rows that may be claimed, the most overdue first. */
export interface DueScan {
  readonly rows: readonly Values[]
  /** Whether more is due than was read. */
  readonly more: boolean
  /** All rows that were read, by shard and in order, including those in flight. */
  readonly found: ReadonlyMap<number, readonly Values[]>
}

/** Reads due rows of locked shards, without those in flight. */
export async function readDue(
  session: Session,
  shards: readonly number[],
  request: ClaimRequest,
  bounds: LowerBounds,
): Promise<DueScan> {
  const { inFlight, limit, context } = request
  const count = Math.max(1, shards.length)
  const perShard = Math.min(limit, Math.ceil((SPREAD * limit) / count) + PER_SHARD_MORE)
  const isFree = (row: Values) => !inFlight.has(row[ID] as Serial, row[VERSION] as number)
  // Timers in flight are usually before the lower bound where the scan starts. If not, the scan reads more rows.
  const inFlightPerShard = Math.ceil((1.5 * inFlight.size) / count) + PER_SHARD_MORE
  const scan = async (more: number) => {
    const [asked, ofAll] = [perShard + more, limit + (more === 0 ? 0 : inFlight.size)]
    const lowerBounds = bounds.lowerBounds(shards)
    const rows = await session.rows(sql.dueTimers, shards, ...lowerBounds, context.now, asked, ofAll)
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
  let { due, isCrowded } = await scan(0)
  if (isCrowded) ({ due, isCrowded } = await scan(inFlightPerShard))
  return isCrowded ? (await scan(inFlight.size)).due : due
}

/** All rows that were read, by shard and in order. */
export function scannedTimers({ found }: DueScan): Map<number, readonly ScannedTimer[]> {
  const scanned = new Map<number, readonly ScannedTimer[]>()
  for (const [shard, rows] of found) {
    const timers = rows.map((row) => ({
      shard,
      id: row[ID] as Serial,
      version: row[VERSION] as number,
      wakeAt: row[WAKE_AT] as number,
    }))
    scanned.set(shard, timers)
  }
  return scanned
}

/** Due rows that are free, and whether a due one is locked by an open transaction. */
export interface Unlocked {
  readonly rows: readonly Values[]
  readonly passedLocked: boolean
}

/**
 * Leaves out rows that an open transaction has locked: a cancel that came in time and is not committed yet must win.
 * Rows that were locked before are read again, because that transaction may have changed them.
 */
export async function withoutLocked(
  session: Session,
  rows: readonly Values[],
  request: ClaimRequest,
): Promise<Unlocked> {
  const marked = rows.filter((row) => row[LOCKED] !== '0').map((row) => row[ID] as Serial)
  if (marked.length === 0) return { rows, passedLocked: false }
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
  return { rows: still, passedLocked: free.size < marked.length }
}
