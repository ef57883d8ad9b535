import { bySerial, type Decision, type Serial, type Timer } from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import {
  alarmOf,
  alarmSeqOf,
  apply,
  type ClaimedTimer,
  type ClaimRequest,
  CorruptRow,
  type DueTimer,
  type Lease,
  type StoredAlarm,
  TIMER_COLUMNS,
  timerOf,
  type Values,
} from '../../index.ts'
import type { ClaimResult, ClaimWork, NextWakes } from '../../sharded/index.ts'
import { properties, type Session } from '../connection/index.ts'
import {
  type Damaged,
  inSavepoint,
  quarantine,
  readSnapshots,
  type WriteBatch,
  withCalendars,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { type DueScan, readDue, scannedTimers, withoutLocked } from './due.ts'
import { readFair } from './fair-scan.ts'

const ID = TIMER_COLUMNS.indexOf('id')
const SHARD = TIMER_COLUMNS.indexOf('shard')
const VERSION = TIMER_COLUMNS.indexOf('version')

/** A claim before its commit; the timers to deliver are known when the batches are recorded. */
type Pending = Omit<ClaimResult, 'timers'> & { readonly timers: Promise<readonly ClaimedTimer[]> }

/**
 * Claims due timers: locks the shards and proves ownership; then, in a later statement, reads what is due, decides,
 * and records the batch as in flight. A statement that began before the lock would not see an edit that it had to
 * wait for. Timers that need no delivery are settled here.
 */
export async function claimDue(batch: WriteBatch, work: ClaimWork): Promise<Pending> {
  const { session } = batch
  const [own, { next, due }] = await Promise.all([lockOwn(session, work), scan(session, work)])
  if (work.knownBatches !== null) session.send(sql.removeUnknownBatches, [...own.shards], work.knownBatches)
  const rows = due.rows.filter((row) => own.shards.has(row[SHARD] as number))
  const { rows: free, passedLocked } = await withoutLocked(session, rows, work.request)
  const { ready, isCutShort, hasLeftDue } = await decideAll(batch, free, work)
  // Priority orders what is due together; the due index leads with time.
  ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
  const timers = recordInFlight(session, work, ready)
  timers.catch(() => {})
  await batch.flush()
  return {
    timers,
    lost: own.lost,
    busy: own.busy,
    // Timers that the triage left are still due.
    more: due.more || isCutShort || hasLeftDue,
    passedLocked,
    next,
    written: batch.earliestWakes,
    scanned: scannedTimers(due),
  }
}

/** What is due, and the next wake of each shard; or only what a fair scan has found. */
async function scan(session: Session, work: ClaimWork): Promise<{ next: NextWakes; due: DueScan }> {
  const { leases, request, bounds, fair } = work
  if (fair !== null) return { next: new Map(), due: await readFair(session, fair, request) }
  const shards = leases.map(({ shard }) => shard)
  const [after, first] = [shards.map(() => request.context.now + 1), shards.map(() => 0)]
  const [next, due] = await Promise.all([
    session.rows(sql.nextTimers, shards, after, first, 1),
    readDue(session, shards, request, bounds),
  ])
  return { next: new Map(next.map(([shard, , , wakeAt]) => [shard as number, wakeAt as number])), due }
}

interface Own {
  readonly shards: ReadonlySet<number>
  readonly lost: readonly Lease[]
  readonly busy: readonly Lease[]
}

async function lockOwn(session: Session, { leases, passesOver }: ClaimWork): Promise<Own> {
  const named = [...properties(leases, 'shard', 'epoch'), leases[0]!.holder]
  const text = passesOver ? sql.lockFreeOwnShards : sql.lockOwnShards
  const shards = new Set((await session.rows(text, ...named)).map(([shard]) => shard as number))
  const missing = leases.filter(({ shard }) => !shards.has(shard))
  if (missing.length === 0) return { shards, lost: [], busy: [] }
  const own = new Set((await session.rows(sql.ownShards, ...named)).map(([shard]) => shard as number))
  const isBusy = ({ shard }: Lease) => passesOver && own.has(shard)
  return {
    shards,
    lost: missing.filter((lease) => !isBusy(lease)),
    busy: missing.filter(isBusy),
  }
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

interface Triaged {
  readonly ready: Ready[]
  readonly isCutShort: boolean
  /** Whether a due timer was left as it is. */
  readonly hasLeftDue: boolean
}

const NOTHING: Triaged = { ready: [], isCutShort: false, hasLeftDue: false }

/** Decides each row. A row that cannot be decided is quarantined, and the rest go on. */
async function decideAll(batch: WriteBatch, rows: readonly Values[], work: ClaimWork): Promise<Triaged> {
  const ready: Ready[] = []
  let left = rows
  let looked = 0
  let hasLeftDue = false
  while (left.length > 0) {
    // An alarm's second timer is decided after the change of its first is written.
    const met = new Set<Serial>()
    const now: Values[] = []
    const later: Values[] = []
    for (const row of left) {
      const isFirst = !met.has(alarmSeqOf(row)) && (!work.oneByOne || now.length === 0)
      ;(isFirst ? now : later).push(row)
      met.add(alarmSeqOf(row))
    }
    const decide = () => decideRound(batch, now, work, work.oneByOne ? 0 : looked)
    const round = work.oneByOne
      ? ((await inSavepoint(batch, now, work.request.context, decide)) ?? NOTHING)
      : await decide()
    ready.push(...round.ready)
    looked += now.length
    hasLeftDue ||= round.hasLeftDue
    if (round.isCutShort) return { ready, isCutShort: true, hasLeftDue }
    if (later.length === 0) break
    await batch.flush()
    const ids = later.map((row) => row[ID] as Serial)
    const again = new Map((await batch.session.rows(sql.timersById, ids)).map((row) => [row[ID], row]))
    // A timer that has changed since is found by the next scan.
    left = later.filter((row) => again.get(row[ID])?.[VERSION] === row[VERSION])
  }
  return { ready, isCutShort: false, hasLeftDue }
}

async function decideRound(
  batch: WriteBatch,
  rows: readonly Values[],
  work: ClaimWork,
  lookedBefore: number,
): Promise<Triaged> {
  const { session } = batch
  const { request } = work
  const seqs = rows.map(alarmSeqOf)
  const alarms = await readAlarms(session, await session.rows(sql.alarmsToFire, seqs))
  const outcome: Round = { ready: [], needOthers: [], damaged: [], hasLeftDue: false }
  let looked = 0
  for (const row of rows) {
    if (lookedBefore + looked > 0 && request.isOverTime()) break
    looked += 1
    decideOne(batch, row, alarms.get(alarmSeqOf(row)), request, outcome)
  }
  await decideWithOthers(batch, outcome, request)
  await quarantine(batch, outcome.damaged, request.context)
  return { ready: outcome.ready, isCutShort: looked < rows.length, hasLeftDue: outcome.hasLeftDue }
}

interface Round {
  readonly ready: Ready[]
  readonly needOthers: { readonly row: Values; readonly found: DueTimer; readonly alarm: StoredAlarm }[]
  readonly damaged: Damaged[]
  hasLeftDue: boolean
}

/** An alarm to fire, or why it cannot be read; with the number of its open occurrences. */
interface ToFire {
  readonly alarm: StoredAlarm | CorruptRow
  readonly openCount: number
}

async function readAlarms(session: Session, rows: readonly Values[]): Promise<ReadonlyMap<Serial, ToFire>> {
  const read = rows.map((row) => [row[0] as Serial, readAlarm(row), row.at(-1) as number] as const)
  const sound = read.flatMap(([, alarm]) => (alarm instanceof CorruptRow ? [] : [alarm]))
  const filled = new Map((await withCalendars(session, sound)).map((alarm) => [alarm.seq, alarm]))
  return new Map(read.map(([seq, alarm, openCount]) => [seq, { alarm: filled.get(seq) ?? alarm, openCount }]))
}

function readAlarm(row: Values): StoredAlarm | CorruptRow {
  try {
    return alarmOf(row)
  } catch (thrown) {
    return new CorruptRow(errorText(thrown))
  }
}

function decideOne(
  batch: WriteBatch,
  row: Values,
  toFire: ToFire | undefined,
  request: ClaimRequest,
  round: Round,
): void {
  try {
    if (toFire === undefined) throw new CorruptRow('its alarm is gone')
    const { alarm, openCount } = toFire
    if (alarm instanceof CorruptRow) throw alarm
    const timer = timerOf(row)
    const found: DueTimer = { alarm, timer, others: null, openCount }
    const decision = request.triage(found)
    if (decision.kind === 'needs_timers' || isQueued(decision)) round.needOthers.push({ row, found, alarm })
    else execute(batch, alarm, [timer], decision, request, round)
  } catch (thrown) {
    round.damaged.push({ row, reason: errorText(thrown) })
  }
}

/**
 * Whether it would wait for an open occurrence. That one may be settling now in a transaction that has seen nothing
 * queued, and then nothing would ever release this one (promise: at-least-once). So its timers are locked first.
 */
function isQueued(decision: Decision): boolean {
  return (
    decision.kind === 'settle' &&
    decision.change.update?.some(({ waiting }) => waiting === 'overlap') === true
  )
}

/** Decides again where the alarm's other timers are needed, with those locked. */
async function decideWithOthers(batch: WriteBatch, round: Round, request: ClaimRequest): Promise<void> {
  if (round.needOthers.length === 0) return
  const seqs = round.needOthers.map(({ alarm }) => alarm.seq).sort(bySerial)
  const [, { found }] = await Promise.all([
    batch.session.rows(sql.lockTimersOfAlarms, seqs),
    readSnapshots(batch.session, seqs),
  ])
  for (const { row, found: before, alarm } of round.needOthers) {
    try {
      const others = found.get(alarm.seq)?.timers ?? []
      // A timer that has changed since is found by the next scan.
      if (!others.some(({ id, version }) => id === row[ID] && version === row[VERSION])) continue
      const open = others.filter(({ kind, generation }) => kind !== 'due' && generation === alarm.generation)
      const decision = request.triage({ ...before, others, openCount: open.length })
      if (decision.kind === 'needs_timers') throw new CorruptRow('no decision could be made about it')
      execute(batch, alarm, others, decision, request, round)
    } catch (thrown) {
      round.damaged.push({ row, reason: errorText(thrown) })
    }
  }
}

function execute(
  batch: WriteBatch,
  alarm: StoredAlarm,
  timers: readonly Timer[],
  decision: Exclude<Decision, { kind: 'needs_timers' }>,
  request: ClaimRequest,
  round: Round,
): void {
  if (decision.change !== undefined) apply(batch, alarm, timers, decision.change, request.context)
  if (decision.kind === 'fire') round.ready.push({ alarm, timer: decision.timer })
  if (decision.kind === 'leave_due') round.hasLeftDue = true
}

/** Records the batch as in flight, one row per shard. The answer comes with the commit. */
async function recordInFlight(
  session: Session,
  { leases, request }: ClaimWork,
  ready: readonly Ready[],
): Promise<ClaimedTimer[]> {
  if (ready.length === 0) return []
  const leaseOf = new Map(leases.map((lease) => [lease.shard, lease]))
  const groups = [...Map.groupBy(ready, ({ timer }) => timer.shard)]
  const rows = await session.rows(
    sql.insertInFlightBatches,
    groups.map(([shard]) => shard),
    groups.map(([shard]) => leaseOf.get(shard)!.epoch),
    request.context.now,
    groups.map(([, group]) => group.flatMap(({ timer }) => [timer.id, timer.version]).join()),
  )
  const batchOf = new Map(
    rows.map(([id, shard]) => [shard as number, { id: id as Serial, shard: shard as number }]),
  )
  return ready.map(({ alarm, timer }) => {
    return { lease: leaseOf.get(timer.shard)!, batch: batchOf.get(timer.shard)!, alarm, timer }
  })
}
