import type { Change, Decision, Serial, Timer } from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import {
  ALARM_COLUMNS,
  alarmOf,
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
import { apply, isolated, quarantine, timersOf, type WriteContext, withCalendars } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { advance, fairDue, fairWakeAt } from './fair-scan.ts'
import { ownsShard } from './settle.ts'

/** Claims what is due in these shards, and records it as in flight in the same transaction. */
export function claim(write: WriteContext, leases: readonly Lease[], request: ClaimRequest): Claimed {
  const lost = leases.filter((lease) => !ownsShard(write.session, lease))
  const claimed: ClaimedTimer[] = []
  let more = false
  for (const lease of leases) {
    const slots = request.limit - claimed.length
    if (lost.includes(lease) || slots <= 0) continue
    const { ready, isMore } = gather(write, lease, request, slots)
    more ||= isMore
    claimed.push(...recordInFlight(write, lease, ready, request))
  }
  if (request.avoid !== undefined) {
    const inFlight = inFlightWith(request.inFlight, claimed)
    advance(write.session, request)
    return {
      timers: claimed,
      lost,
      more,
      nextWakeAt: fairWakeAt(write.session, leases, { ...request, inFlight }),
    }
  }
  // If more is due, the engine claims again at once and does not need the next wake yet.
  if (more) return { timers: claimed, lost, more, nextWakeAt: request.context.now }
  return {
    timers: claimed,
    lost,
    more,
    nextWakeAt: nextWakeAt(write.session, leases, inFlightWith(request.inFlight, claimed)),
  }
}

/** Rows that one claim reads in a shard. Bounds the transaction where nothing has to be delivered. */
const ROWS_PER_CLAIM_MAX = 1_000

/**
 * Reads until it has a delivery for every slot, or nothing more is due. Timers that are settled at once use no slot and
 * must not count as one: otherwise a backlog of events would commit after every hundred of them.
 */
function gather(
  write: WriteContext,
  lease: Lease,
  request: ClaimRequest,
  slots: number,
): { ready: readonly Ready[]; isMore: boolean } {
  const ready: Ready[] = []
  for (let read = 0; ; ) {
    const wanted = slots - ready.length
    const inFlight = ready.length === 0 ? request.inFlight : inFlightWith(request.inFlight, ready)
    const due = dueIn(write.session, lease, { ...request, inFlight }, wanted)
    const { ready: found, cutShort, hasPassed } = triageAll(write, due, request)
    ready.push(...found)
    read += due.length
    const isMore = due.length >= wanted || cutShort || hasPassed
    // A timer that was passed over would be found again; the next claim avoids its tenant.
    if (!isMore || cutShort || hasPassed || ready.length >= slots || read >= ROWS_PER_CLAIM_MAX)
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

/** In a row of the due scan: the first of the alarm's columns, and the one that says whether it has other timers. */
const ALARM_AT = TIMER_COLUMNS.length
const OTHERS_AT = ALARM_AT + 1 + ALARM_COLUMNS.length

function dueIn(session: Session, lease: Lease, request: ClaimRequest, limit: number): Values[] {
  if (request.avoid !== undefined) return fairDue(session, lease, request, limit)
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
  if (request.avoid !== undefined) return false
  return leases.some(({ shard }) => {
    const [wakeAt] = (session.value(sql.wakeAfter, shard, request.inFlight.size) ?? []) as [number?]
    return wakeAt !== undefined && wakeAt <= request.context.now
  })
}

/** The earliest wake in these shards that is not in flight. */
export function nextWakeAt(
  session: Session,
  leases: readonly Lease[],
  inFlight: InFlightTimers,
): number | null {
  let earliest: number | null = null
  for (const lease of leases) {
    const next =
      nextFree(session, lease, inFlight, 1) ??
      (inFlight.size === 0 ? null : nextFree(session, lease, inFlight, inFlight.size + 1))
    if (next !== null && (earliest === null || next < earliest)) earliest = next
  }
  return earliest
}

function nextFree(session: Session, lease: Lease, inFlight: InFlightTimers, limit: number): number | null {
  const rows = session.values(sql.nextTimers, lease.shard, limit) as [number, number, number][]
  return rows.find(([id, version]) => !inFlight.has(id, version))?.[2] ?? null
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

interface TriageResult {
  readonly ready: readonly Ready[]
  readonly cutShort: boolean
  /** Whether a due timer was passed over. */
  readonly hasPassed: boolean
}

/** Decides each row. What cannot be decided or written is quarantined, so that the rest continue. */
function triageAll(write: WriteContext, rows: readonly Values[], request: ClaimRequest): TriageResult {
  const ready: Ready[] = []
  let decidedCount = 0
  let hasPassed = false
  for (const row of rows) {
    if (decidedCount > 0 && request.isLong()) break
    decidedCount += 1
    const decided = decide(write, row, request)
    if (decided === null) continue
    const { alarm, decision } = decided
    const { change } = decision
    if (change !== undefined && !applyIsolated(write, row, decided, change)) continue
    if (decision.kind === 'fire') ready.push({ alarm, timer: decision.timer })
    hasPassed ||= decision.kind === 'pass'
  }
  return { ready, cutShort: decidedCount < rows.length, hasPassed }
}

/** Whether the change could be written. */
function applyIsolated(
  write: WriteContext,
  row: Values,
  { alarm, timers }: Decided,
  change: Change,
): boolean {
  const applyChange = (inner: WriteContext) => {
    apply(inner, alarm, timers, change)
    return true
  }
  return isolated(write, row, applyChange) !== null
}

interface Decided {
  readonly alarm: StoredAlarm
  readonly timers: readonly Timer[]
  readonly decision: Exclude<Decision, { kind: 'lookup' }>
}

/** Reads and decides a row; quarantines it if that fails. */
function decide(write: WriteContext, row: Values, request: ClaimRequest): Decided | null {
  try {
    if (row[ALARM_AT] === null) throw new CorruptRow('its alarm is missing')
    const alarm = withCalendars(write.session, alarmOf(row, ALARM_AT))
    const timer = timerOf(row)
    const open = row[OTHERS_AT] === 0 ? 0 : openCount(write.session, alarm)
    const found: DueTimer = { alarm, timer, others: null, openCount: open }
    const decision = request.triage(found)
    if (decision.kind !== 'lookup') return { alarm, timers: [timer], decision }
    const timers = timersOf(write.session, alarm)
    const again = request.triage({ ...found, others: timers })
    if (again.kind === 'lookup') throw new CorruptRow('no decision could be made about it')
    return { alarm, timers, decision: again }
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    quarantine(write, row, errorText(thrown))
    return null
  }
}

function openCount(session: Session, alarm: StoredAlarm): number {
  return (
    session.get<{ open: number }>(
      sql.openTimersOfAlarm,
      alarm.tenant,
      alarm.owner,
      alarm.seq,
      alarm.generation,
    )?.open ?? 0
  )
}

function recordInFlight(
  write: WriteContext,
  lease: Lease,
  ready: readonly Ready[],
  request: ClaimRequest,
): ClaimedTimer[] {
  if (ready.length === 0) return []
  const flat: Serial[] = []
  for (const { timer } of ready) flat.push(timer.id, timer.version)
  const { lastInsertRowid: id } = write.session.run(
    sql.insertInFlightBatch,
    lease.shard,
    lease.epoch,
    request.context.now,
    JSON.stringify(flat),
  )
  const batch = { id, shard: lease.shard }
  return ready.map(({ alarm, timer }) => ({ lease, batch, alarm, timer }))
}
