import type { Decision, Timer } from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import {
  ALARM_COLUMNS,
  alarmOf,
  apply,
  type Claimed,
  type ClaimedTimer,
  type ClaimRequest,
  CorruptRow,
  type DueTimer,
  type InFlightTimers,
  type Lease,
  type StoredAlarm,
  TIMER_COLUMNS,
  timerOf,
  type Values,
} from '../../index.ts'
import { isStoreError, type Session } from '../connection/index.ts'
import { quarantine, type RowWrites, runOrQuarantine, timersOf, withCalendars } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { advanceFairScan, fairDue, nextFairWakeAt } from './fair-scan.ts'
import { holdsShard } from './settle.ts'

/** Claims what is due in these shards, and records it as in flight in the same transaction. */
export function claim(write: RowWrites, leases: readonly Lease[], request: ClaimRequest): Claimed {
  const lost = leases.filter((lease) => !holdsShard(write.session, lease))
  const claimed: ClaimedTimer[] = []
  let more = false
  for (const lease of leases) {
    const slots = request.limit - claimed.length
    if (lost.includes(lease) || slots <= 0) continue
    const { ready, isMore } = gather(write, lease, request, slots)
    more ||= isMore
    claimed.push(...recordInFlight(write, lease, ready, request))
  }
  if (request.skipTenants !== undefined) advanceFairScan(write.session, request)
  const inFlight = inFlightWith(request.inFlight, claimed)
  // If more is due, the engine claims again at once and does not need the next wake yet.
  const mustClaimAgain = more && request.skipTenants === undefined
  const wakeAt = mustClaimAgain
    ? request.context.now
    : nextClaimableWakeAt(write.session, leases, { ...request, inFlight })
  return { timers: claimed, lost, more, nextWakeAt: wakeAt }
}

/** The earliest wake that a claim may take. */
export function nextClaimableWakeAt(
  session: Session,
  leases: readonly Lease[],
  request: ClaimRequest,
): number | null {
  return request.skipTenants === undefined
    ? nextWakeAt(session, leases, request.inFlight)
    : nextFairWakeAt(session, leases, request)
}

/** Rows that one claim reads in a shard. Bounds the transaction where nothing has to be delivered. */
const ROWS_PER_CLAIM_MAX = 1_000

/**
 * Reads until it has a delivery for every slot, or nothing more is due. Timers that are settled at once use no slot and
 * must not count as one: otherwise a backlog of alarms whose target is the event log would commit after every hundred.
 */
function gather(
  write: RowWrites,
  lease: Lease,
  request: ClaimRequest,
  slots: number,
): { ready: readonly Ready[]; isMore: boolean } {
  const ready: Ready[] = []
  for (let read = 0; ; ) {
    const wanted = slots - ready.length
    const inFlight = ready.length === 0 ? request.inFlight : inFlightWith(request.inFlight, ready)
    const due = dueIn(write.session, lease, { ...request, inFlight }, wanted)
    const { ready: found, isCutShort, hasLeftDue } = triageAll(write, due, request)
    ready.push(...found)
    read += due.length
    const isMore = due.length >= wanted || isCutShort || hasLeftDue
    // A timer that was left due would be found again; the next claim skips its tenant.
    if (!isMore || isCutShort || hasLeftDue || ready.length >= slots || read >= ROWS_PER_CLAIM_MAX)
      return { ready: byPriority(ready), isMore }
  }
}

/** Priority orders what is due together. The index stays ordered by time. */
function byPriority(ready: Ready[]): Ready[] {
  return ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
}

function inFlightWith(
  inFlight: InFlightTimers,
  claimed: readonly { readonly timer: Timer }[],
): InFlightTimers {
  const versions = new Map(claimed.map(({ timer }) => [timer.id, timer.version]))
  return {
    size: inFlight.size + versions.size,
    has: (id, version) => versions.get(id) === version || inFlight.has(id, version),
  }
}

/**
 * In a row of the due scan: the offset of the alarm's columns, the first of which is `seq`, and the column that says whether
 * the alarm has other timers.
 */
const ALARM_OFFSET = TIMER_COLUMNS.length
const HAS_OTHERS_COLUMN = ALARM_OFFSET + 1 + ALARM_COLUMNS.length

function dueIn(session: Session, lease: Lease, request: ClaimRequest, limit: number): Values[] {
  if (request.skipTenants !== undefined) return fairDue(session, lease, request, limit)
  const { inFlight, context } = request
  const isFree = (id: unknown, version: unknown) => !inFlight.has(id as number, version as number)
  const ids = (count: number) => session.values(sql.dueIds, lease.shard, context.now, count)
  const [[firstId, firstVersion] = []] = inFlight.size === 0 ? [] : ids(1)
  if (firstId === undefined || isFree(firstId, firstVersion)) {
    const rows = session.values(sql.dueTimers, lease.shard, context.now, limit)
    const free = rows.filter((row) => isFree(row[ID], row[VERSION]))
    if (free.length === rows.length || rows.length < limit) return free
  }
  // Rows in flight come first: skip them by id, without reading their other columns and their alarms.
  return ids(limit + inFlight.size)
    .filter(([id, version]) => isFree(id, version))
    .slice(0, limit)
    .map(([id]) => session.value(sql.dueTimer, id as number)!)
}

const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

/**
 * Whether more rows are due in one of these shards than are in flight in all, so that at least one can be claimed. If
 * false, only a scan can tell.
 */
export function isCertainlyDue(session: Session, leases: readonly Lease[], request: ClaimRequest): boolean {
  if (request.skipTenants !== undefined) return false
  return leases.some(({ shard }) => {
    const [wakeAt] = (session.value(sql.nthWake, shard, request.inFlight.size) ?? []) as [number?]
    return wakeAt !== undefined && wakeAt <= request.context.now
  })
}

/** The earliest wake in these shards that is not in flight. */
export function nextWakeAt(
  session: Session,
  leases: readonly Lease[],
  inFlight: InFlightTimers,
): number | null {
  const wakes = leases.flatMap((lease) => nextFree(session, lease, inFlight) ?? [])
  return wakes.length === 0 ? null : Math.min(...wakes)
}

/** The first row is rarely in flight; if it is, as many as are in flight may come first. */
function nextFree(session: Session, { shard }: Lease, inFlight: InFlightTimers): number | null {
  const read = (limit: number) => {
    const rows = session.values(sql.nextTimers, shard, limit) as [number, number, number][]
    return rows.find(([id, version]) => !inFlight.has(id, version))?.[2] ?? null
  }
  return read(1) ?? (inFlight.size === 0 ? null : read(inFlight.size + 1))
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

interface TriageResult {
  readonly ready: readonly Ready[]
  /** Whether the claim took too long: the remaining rows are read next time. */
  readonly isCutShort: boolean
  /** Whether a timer was left due, because a limit has no free slot for it. */
  readonly hasLeftDue: boolean
}

/** Decides each row. What cannot be decided or written is quarantined, so that the rest continue. */
function triageAll(write: RowWrites, rows: readonly Values[], request: ClaimRequest): TriageResult {
  const ready: Ready[] = []
  let decidedCount = 0
  let hasLeftDue = false
  for (const row of rows) {
    if (decidedCount > 0 && request.isOverTime()) break
    decidedCount += 1
    const decided = decide(write, row, request)
    if (decided === null) continue
    const { alarm, timers, decision } = decided
    const { change } = decision
    if (
      change &&
      runOrQuarantine(write, row, (inner) => apply(inner, alarm, timers, change, inner.context)) === null
    )
      continue
    if (decision.kind === 'fire') ready.push({ alarm, timer: decision.timer })
    hasLeftDue ||= decision.kind === 'leave_due'
  }
  return { ready, isCutShort: decidedCount < rows.length, hasLeftDue }
}

interface Decided {
  readonly alarm: StoredAlarm
  readonly timers: readonly Timer[]
  readonly decision: Exclude<Decision, { kind: 'needs_timers' }>
}

/** Reads and decides a row; quarantines it if that fails. */
function decide(write: RowWrites, row: Values, request: ClaimRequest): Decided | null {
  try {
    if (row[ALARM_OFFSET] === null) throw new CorruptRow('its alarm is missing')
    const alarm = withCalendars(write.session, alarmOf(row, ALARM_OFFSET))
    const timer = timerOf(row)
    const open = row[HAS_OTHERS_COLUMN] === 0 ? 0 : openCount(write.session, alarm)
    const found: DueTimer = { alarm, timer, others: null, openCount: open }
    const decision = request.triage(found)
    if (decision.kind !== 'needs_timers') return { alarm, timers: [timer], decision }
    const timers = timersOf(write.session, alarm)
    const again = request.triage({ ...found, others: timers })
    if (again.kind === 'needs_timers') throw new CorruptRow('no decision could be made about it')
    return { alarm, timers, decision: again }
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    quarantine(write, row, errorText(thrown))
    return null
  }
}

function openCount(session: Session, { tenant, owner, seq, generation }: StoredAlarm): number {
  const row = session.value(sql.openTimersOfAlarm, tenant, owner, seq, generation)
  return row![0] as number
}

function recordInFlight(
  write: RowWrites,
  lease: Lease,
  ready: readonly Ready[],
  request: ClaimRequest,
): ClaimedTimer[] {
  if (ready.length === 0) return []
  const timers = JSON.stringify(ready.flatMap(({ timer }) => [timer.id, timer.version]))
  const { shard, epoch } = lease
  const { now } = request.context
  const { lastInsertRowid: id } = write.session.run(sql.insertInFlightBatch, shard, epoch, now, timers)
  const batch = { id, shard }
  return ready.map(({ alarm, timer }) => ({ lease, batch, alarm, timer }))
}
