import { bySerial, type Serial, type Timer, type Verdict } from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import {
  alarmOf,
  alarmSeqOf,
  type Claimed,
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
import { lowerTo, type NextWakeCache, type NextWakes, type Position } from '../../sharded/index.ts'
import { isStoreError, type Session } from '../connection/index.ts'
import {
  apply,
  type Damaged,
  quarantine,
  readSnapshots,
  type WriteBatch,
  withCalendars,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { type DueScan, passed, readDue, withoutLocked } from './due.ts'
import { type FairScan, readFair } from './fair-scan.ts'

const ID = TIMER_COLUMNS.indexOf('id')
const SHARD = TIMER_COLUMNS.indexOf('shard')
const VERSION = TIMER_COLUMNS.indexOf('version')
/** How soon to look again at what an open transaction holds. */
const LOCKED_WAIT_MS = 50

/** What a take needs beside its request. */
export interface ClaimWork {
  /** The shards in which something is due, and under which leases. */
  readonly leases: readonly Lease[]
  readonly request: ClaimRequest
  readonly lookout: NextWakeCache
  /** What tenants whom another crowds out are due, where that is all that is taken. */
  readonly fair: FairScan | null
  /** One row after the other, each undone alone: for when a batch could not be written. */
  readonly isApart: boolean
  /** Whether shards that another transaction holds are passed over instead of waited for. */
  readonly passesOver: boolean
  /** The flights that are really under way, where one may have been recorded without an answer; else null. */
  readonly known: readonly Serial[] | null
}

/** What a take came to before its commit; what it will deliver is known when the flights are. */
export interface ClaimResult {
  readonly lost: readonly Lease[]
  /** Shards that another transaction holds. */
  readonly busy: readonly Lease[]
  readonly more: boolean
  /** When each shard is to be looked at next, where there is anything to look for. */
  readonly firsts: NextWakes
  readonly takings: Promise<readonly ClaimedTimer[]>
  /** From where to look next, by shard, when all this is committed. */
  readonly passed: ReadonlyMap<number, Position>
}

/**
 * Takes what is due: proves ownership and locks the shards, then, in a statement that begins after that (hazard 4), reads
 * what is due, decides, and records the batch as in flight. What needs no delivery is settled here and now.
 */
export async function claimDue(desk: WriteBatch, work: ClaimWork): Promise<ClaimResult> {
  const { session } = desk
  const { request } = work
  const { now } = request.context
  const shards = work.leases.map(({ shard }) => shard)
  const [own, { next, due }] = await Promise.all([lockOwn(session, work), look(session, work)])
  const { lost, busy } = own
  if (work.known !== null) session.send(sql.removeUnknownFlights, [...own.shards], work.known)
  const rows = due.rows.filter((row) => own.shards.has(row[SHARD] as number))
  const { rows: free, waits } = await withoutLocked(session, rows, request)
  const { ready, cutShort, hasPassed } = await decideAll(desk, free, work)
  // Priority orders what is due together; the due index keeps leading with time.
  ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
  const takings = fly(session, work, ready)
  takings.catch(() => {})
  await desk.flush()
  // What was passed is still due: nobody may believe that nothing is.
  const more = due.more || cutShort || hasPassed
  const again = new Set(waits ? shards : busy.map(({ shard }) => shard))
  // With more to take, the engine comes back at once: what is due after that need not be known yet.
  const firsts = more ? new Map(shards.map((shard) => [shard, now])) : next
  for (const shard of again) lowerTo(firsts, shard, now + LOCKED_WAIT_MS)
  for (const [shard, wakeAt] of desk.writes.wakes) if (shards.includes(shard)) lowerTo(firsts, shard, wakeAt)
  const taken = new Set(ready.map(({ timer }) => timer.id))
  return { lost, busy, more, firsts, takings, passed: passed(due.found, request.inFlight, taken) }
}

/** What is due, and when the next comes: of everybody in these shards, or of those whom nobody crowds out. */
async function look(session: Session, work: ClaimWork): Promise<{ next: Map<number, number>; due: DueScan }> {
  const { leases, request, lookout, fair } = work
  if (fair !== null) return { next: new Map(), due: await readFair(session, fair, request) }
  const shards = leases.map(({ shard }) => shard)
  const [after, first] = [shards.map(() => request.context.now + 1), shards.map(() => 0)]
  const [next, due] = await Promise.all([
    session.rows(sql.nextTimers, shards, after, first, 1),
    readDue(session, shards, request, lookout),
  ])
  return { next: new Map(next.map(([shard, , , wakeAt]) => [shard as number, wakeAt as number])), due }
}

interface Own {
  readonly shards: ReadonlySet<number>
  readonly lost: readonly Lease[]
  readonly busy: readonly Lease[]
}

async function lockOwn(session: Session, { leases, passesOver }: ClaimWork): Promise<Own> {
  const named = [
    leases.map(({ shard }) => shard),
    leases.map(({ epoch }) => epoch),
    leases[0]!.holder,
  ] as const
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
  readonly cutShort: boolean
  /** Whether something is due and was left as it is. */
  readonly hasPassed: boolean
}

/** Decides about each row. What cannot be decided is set aside, so that the rest go on. */
async function decideAll(desk: WriteBatch, rows: readonly Values[], work: ClaimWork): Promise<Triaged> {
  const ready: Ready[] = []
  let left = rows
  let looked = 0
  let hasPassed = false
  while (left.length > 0) {
    // An alarm's second timer is decided about when what came of its first is written.
    const met = new Set<Serial>()
    const now: Values[] = []
    const later: Values[] = []
    for (const row of left) {
      const isFirst = !met.has(alarmSeqOf(row)) && (!work.isApart || now.length === 0)
      ;(isFirst ? now : later).push(row)
      met.add(alarmSeqOf(row))
    }
    const round = work.isApart
      ? await roundApart(desk, now, work)
      : await decideRound(desk, now, work, looked)
    ready.push(...round.ready)
    looked += now.length
    hasPassed ||= round.hasPassed
    if (round.cutShort) return { ready, cutShort: true, hasPassed }
    if (later.length === 0) break
    await desk.flush()
    const ids = later.map((row) => row[ID] as Serial)
    const again = new Map((await desk.session.rows(sql.timersById, ids)).map((row) => [row[ID], row]))
    // What has changed since is found again by the next look.
    left = later.filter((row) => again.get(row[ID])?.[VERSION] === row[VERSION])
  }
  return { ready, cutShort: false, hasPassed }
}

/** One row that is undone alone when it cannot be written, and quarantined with the reason. */
async function roundApart(desk: WriteBatch, rows: readonly Values[], work: ClaimWork): Promise<Triaged> {
  const { session } = desk
  await session.plain('SAVEPOINT apart')
  try {
    const round = await decideRound(desk, rows, work, 0)
    await desk.flush()
    await session.landed()
    desk.accept()
    await session.plain('RELEASE apart')
    return round
  } catch (failed) {
    const thrown = session.cause(failed)
    if (isStoreError(thrown)) throw thrown
    await session.rollbackTo('apart')
    desk.clear()
    await quarantine(
      desk,
      rows.map((row) => ({ row, reason: errorText(thrown) })),
      work.request.context,
    )
    await session.plain('RELEASE apart')
    return { ready: [], cutShort: false, hasPassed: false }
  }
}

async function decideRound(
  desk: WriteBatch,
  rows: readonly Values[],
  work: ClaimWork,
  lookedBefore: number,
): Promise<Triaged> {
  const { session } = desk
  const { request } = work
  const seqs = rows.map(alarmSeqOf)
  const alarms = await readAlarms(session, await session.rows(sql.alarmsToFire, seqs))
  const outcome: Round = { ready: [], looks: [], damaged: [], hasPassed: false }
  let looked = 0
  for (const row of rows) {
    if (lookedBefore + looked > 0 && request.isLong()) break
    looked += 1
    decideOne(desk, row, alarms.get(alarmSeqOf(row)), request, outcome)
  }
  await decideLooking(desk, outcome, request)
  await quarantine(desk, outcome.damaged, request.context)
  return { ready: outcome.ready, cutShort: looked < rows.length, hasPassed: outcome.hasPassed }
}

interface Round {
  readonly ready: Ready[]
  readonly looks: { readonly row: Values; readonly found: DueTimer; readonly alarm: StoredAlarm }[]
  readonly damaged: Damaged[]
  hasPassed: boolean
}

/** An alarm to fire, or why it cannot be read; with how many of its occurrences are open. */
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
  desk: WriteBatch,
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
    const verdict = request.triage(found)
    if (verdict.kind === 'look' || isQueued(verdict)) round.looks.push({ row, found, alarm })
    else carryOut(desk, alarm, [timer], verdict, request, round)
  } catch (thrown) {
    round.damaged.push({ row, reason: errorText(thrown) })
  }
}

/**
 * Whether it would wait for an occurrence that is open: that one may be settled at this very moment, by somebody who
 * has seen nothing queued behind it, and then nobody would ever let it go (promise: at-least-once).
 */
function isQueued(verdict: Verdict): boolean {
  return (
    verdict.kind === 'settle' && verdict.change.move?.some(({ waiting }) => waiting === 'overlap') === true
  )
}

/** Decides again about those whose alarm's other timers had to be looked up, with these kept from changing. */
async function decideLooking(desk: WriteBatch, round: Round, request: ClaimRequest): Promise<void> {
  if (round.looks.length === 0) return
  const seqs = round.looks.map(({ alarm }) => alarm.seq).sort(bySerial)
  const [, { found }] = await Promise.all([
    desk.session.rows(sql.lockTimersOfAlarms, seqs),
    readSnapshots(desk.session, seqs),
  ])
  for (const { row, found: before, alarm } of round.looks) {
    try {
      const others = found.get(alarm.seq)?.timers ?? []
      // What has changed since is found again by the next look.
      if (!others.some(({ id, version }) => id === row[ID] && version === row[VERSION])) continue
      const open = others.filter(({ kind, generation }) => kind !== 'due' && generation === alarm.generation)
      const verdict = request.triage({ ...before, others, openCount: open.length })
      if (verdict.kind === 'look') throw new CorruptRow('no decision could be made about it')
      carryOut(desk, alarm, others, verdict, request, round)
    } catch (thrown) {
      round.damaged.push({ row, reason: errorText(thrown) })
    }
  }
}

function carryOut(
  desk: WriteBatch,
  alarm: StoredAlarm,
  timers: readonly Timer[],
  verdict: Exclude<Verdict, { kind: 'look' }>,
  request: ClaimRequest,
  round: Round,
): void {
  if (verdict.change !== undefined) apply(desk.writes, alarm, timers, verdict.change, request.context)
  if (verdict.kind === 'fire') round.ready.push({ alarm, timer: verdict.timer })
  if (verdict.kind === 'pass') round.hasPassed = true
}

/** Records the batch as in flight, one row per shard; its answer comes with the commit. */
async function fly(
  session: Session,
  { leases, request }: ClaimWork,
  ready: readonly Ready[],
): Promise<ClaimedTimer[]> {
  if (ready.length === 0) return []
  const leaseOf = new Map(leases.map((lease) => [lease.shard, lease]))
  const groups = [...Map.groupBy(ready, ({ timer }) => timer.shard)]
  const rows = await session.rows(
    sql.insertFlights,
    groups.map(([shard]) => shard),
    groups.map(([shard]) => leaseOf.get(shard)!.epoch),
    request.context.now,
    groups.map(([, flying]) => flying.flatMap(({ timer }) => [timer.id, timer.version]).join()),
  )
  const flightOf = new Map(
    rows.map(([id, shard]) => [shard as number, { id: id as Serial, shard: shard as number }]),
  )
  return ready.map(({ alarm, timer }) => {
    return { lease: leaseOf.get(timer.shard)!, batch: flightOf.get(timer.shard)!, alarm, timer }
  })
}

/** Nothing taken, and when to look again. */
export function nothing(nextWakeAt: number | null): Claimed {
  return { timers: [], nextWakeAt, lost: [], more: false }
}
