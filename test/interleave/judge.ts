import { occurrenceId } from '../../src/alarm/index.ts'
import type { ClaimedTimer, Lease } from '../../src/stores/index.ts'
import { ANSWER_LOST } from './interceptor.ts'
import type { Note } from './notes.ts'
import type { AlarmRow, EventRow, Rows } from './rows.ts'
import type { Step } from './schedule.ts'

/** The promises that are judged. */
export type Promised =
  | 'fenced'
  | 'cancel-wins'
  | 'recorded-once'
  | 'at-least-once'
  | 'no-deadlock'
  | 'reader-misses-none'
  | 'liveness'
  | 'counters'
  | 'one-per-key'

/** A broken promise, and how it was broken. */
export interface Breach {
  readonly promise: Promised
  readonly what: string
}

const ENDS = ['alarm.fired', 'alarm.skipped', 'schedule.ticked', 'timer.due_time_reached']
const JUDGEMENTS = ['alarm.completed', 'alarm.timed_out', 'alarm.failed']

/** A claimed timer, and when it was claimed. */
interface Claim {
  readonly at: number
  readonly process: string
  readonly claimedTimer: ClaimedTimer
}

/** Judges the answers that the actors got, in the order of the answers. */
export function judgeAnswers(notes: readonly Note[], trace: readonly Step[]): Breach[] {
  return [
    ...judgeCancels(notes, trace),
    ...judgeClaims(notes),
    ...judgeLeases(notes),
    ...judgeFences(notes, trace),
    ...judgeSets(notes),
  ]
}

/** Judges the rows while no actor is running. */
export function judgeRows(rows: Rows, hasPruned: boolean): Breach[] {
  return [...judgeTimers(rows), ...judgeRecords(rows.events), ...(hasPruned ? [] : judgeCounters(rows))]
}

function claimedIn(notes: readonly Note[]): Claim[] {
  return notes.flatMap((note) =>
    note.kind !== 'claim'
      ? []
      : note.claimed.timers.map((claimedTimer) => ({ at: note.at, process: note.process, claimedTimer })),
  )
}

/** When a delivery was over: its settle was committed, or answered otherwise. */
function settledAt(
  notes: readonly Note[],
  trace: readonly Step[],
  { timer }: ClaimedTimer,
  from: number,
): number {
  const over = notes.find(
    (note) =>
      note.kind === 'settle' &&
      note.settlements.some((each) => each.timer.id === timer.id && each.timer.version === timer.version),
  )
  if (over === undefined) return Number.POSITIVE_INFINITY
  const isCommit = ({ process, what, outcome }: Step) =>
    process === over.process && what === 'COMMIT' && (outcome === '0' || outcome.includes(ANSWER_LOST))
  const committed = trace.findIndex((step, index) => index >= from && index < over.at && isCommit(step))
  return committed < 0 ? over.at : committed
}

/**
 * After `cancelled` is answered, no delivery of the alarm may start or be claimed later. After `firing` is answered, it
 * is neither retried nor recurs.
 */
function judgeCancels(notes: readonly Note[], trace: readonly Step[]): Breach[] {
  return notes.flatMap((note): Breach[] => {
    if (note.kind !== 'cancel' || note.outcome === undefined || note.outcome === 'ended') return []
    const setAgain = notes.find(
      (each) => each.kind === 'set' && each.answer.snapshot.alarm.id === note.alarmId && each.at > note.at,
    )
    const until = setAgain?.at ?? Number.POSITIVE_INFINITY
    const own = claimedIn(notes).filter(
      ({ at, claimedTimer }) => claimedTimer.alarm.id === note.alarmId && at < until,
    )
    // A claim that lost its answer was recorded as firing. It begins to fire when it is repeated.
    const first = own[0]?.at
    const isLate = ({ at, claimedTimer }: Claim) => {
      if (at > note.at) return note.outcome === 'cancelled' || at !== first
      // Nothing starts under a lease that has ended.
      const mayStart = claimedTimer.lease.until > note.monotonic
      return note.outcome === 'cancelled' && mayStart && settledAt(notes, trace, claimedTimer, at) > note.at
    }
    return own.filter(isLate).map(({ at, process }) => ({
      promise: 'cancel-wins',
      what: `cancel was answered "${note.outcome}" (step ${note.at}), but ${process} claimed it (step ${at})`,
    }))
  })
}

/** The same timer version is claimed once. After a lost delivery, the next one counts it as an attempt. */
function judgeClaims(notes: readonly Note[]): Breach[] {
  const breaches: Breach[] = []
  const claimed = new Map<string, Claim>()
  const occurrences = new Map<string, Claim>()
  for (const claim of claimedIn(notes)) {
    const { timer, alarm, lease } = claim.claimedTimer
    const version = `${timer.id}:${timer.version}`
    const name = occurrenceId(alarm, timer)
    const before = claimed.get(version)
    if (before !== undefined)
      breaches.push({
        promise: 'recorded-once',
        what: `timer ${version} was claimed twice (steps ${before.at} and ${claim.at}): it fires twice`,
      })
    claimed.set(version, claim)
    const earlier = occurrences.get(name)
    const wasLost = earlier !== undefined && earlier.claimedTimer.lease.epoch !== lease.epoch
    if (
      wasLost &&
      !isAccepted(notes, earlier.claimedTimer) &&
      timer.attempt <= earlier.claimedTimer.timer.attempt
    )
      breaches.push({
        promise: 'fenced',
        what: `${name} was in flight at a takeover and is claimed again as attempt ${timer.attempt + 1}: the lost attempt is not counted`,
      })
    if (earlier !== undefined && isDone(notes, earlier.claimedTimer))
      breaches.push({
        promise: 'recorded-once',
        what: `${name} was delivered and settled, but is claimed again (step ${claim.at})`,
      })
    occurrences.set(name, claim)
  }
  return breaches
}

function isAccepted(notes: readonly Note[], claimedTimer: ClaimedTimer): boolean {
  return acceptedAs(notes, claimedTimer).length > 0
}

function isDone(notes: readonly Note[], claimedTimer: ClaimedTimer): boolean {
  return acceptedAs(notes, claimedTimer).includes('delivered')
}

/** The outcomes in the accepted settles of a claimed timer. */
function acceptedAs(notes: readonly Note[], { timer, lease }: ClaimedTimer): string[] {
  return notes.flatMap((note) => {
    if (note.kind !== 'settle' || note.settled.stale > 0 || hasLost(note.settled.lost, lease)) return []
    return note.settlements
      .filter((each) => each.timer.id === timer.id && each.timer.version === timer.version)
      .map(({ delivery }) => delivery.kind)
  })
}

function hasLost(lost: readonly Lease[], { shard, epoch }: Lease): boolean {
  return lost.some((each) => each.shard === shard && each.epoch === epoch)
}

/** Two processes may never both start deliveries of one shard. */
function judgeLeases(notes: readonly Note[]): Breach[] {
  const breaches: Breach[] = []
  const leasesOf = new Map<string, readonly Lease[]>()
  for (const note of notes) {
    if (note.kind === 'release') {
      for (const { holder: owner } of note.leases) leasesOf.delete(owner)
      continue
    }
    if (note.kind !== 'acquire') continue
    leasesOf.set(note.owner, note.leases)
    for (const [owner, leases] of leasesOf) {
      if (owner === note.owner) continue
      const both = leases.find(
        (lease) => lease.until > note.monotonic && note.leases.some(({ shard }) => shard === lease.shard),
      )
      if (both !== undefined)
        breaches.push({
          promise: 'fenced',
          what: `${note.owner} acquired shard ${both.shard} (step ${note.at}) while ${owner} holds its lease`,
        })
    }
  }
  return breaches
}

/**
 * Once a newer epoch of a shard is committed, nothing of an older one is accepted, and its process is told that the
 * lease is lost.
 */
function judgeFences(notes: readonly Note[], trace: readonly Step[]): Breach[] {
  const commitOf = ({ at, process }: Note) =>
    trace.findLastIndex((step, index) => index < at && step.process === process && step.what === 'COMMIT')
  const acquisitions = notes.flatMap((note) =>
    note.kind === 'acquire' ? note.leases.map((lease) => ({ ...lease, at: commitOf(note) })) : [],
  )
  const isVoid = ({ shard, epoch }: Lease, at: number) =>
    acquisitions.some((each) => each.shard === shard && each.epoch > epoch && each.at >= 0 && each.at < at)
  return notes.flatMap((note): Breach[] => {
    const at = commitOf(note)
    return leasesUsed(note)
      .filter((lease) => isVoid(lease, at))
      .map(({ epoch }) => ({
        promise: 'fenced',
        what: `a ${note.kind} of epoch ${epoch} was accepted (step ${at}) after the shard was acquired with a newer epoch`,
      }))
  })
}

/** The leases that a call used and that were not reported as lost. */
function leasesUsed(note: Note): Lease[] {
  if (note.kind === 'claim') return note.claimed.timers.map(({ lease }) => lease)
  if (note.kind !== 'settle') return []
  return note.settlements.map(({ lease }) => lease).filter((lease) => !hasLost(note.settled.lost, lease))
}

function judgeSets(notes: readonly Note[]): Breach[] {
  const sets = notes.flatMap((note) => (note.kind === 'set' ? [note] : []))
  if (sets.some(({ answer }) => (answer.snapshot as unknown) === undefined))
    return [{ promise: 'at-least-once', what: 'a set was answered, but there is no alarm' }]
  const byName = Map.groupBy(
    sets,
    ({ answer }) =>
      answer.snapshot.alarm.key ?? answer.snapshot.alarm.idempotencyKey ?? answer.snapshot.alarm.id,
  )
  return [...byName].flatMap(([name, own]): Breach[] => {
    const ids = new Set(own.map(({ answer }) => answer.snapshot.alarm.id))
    const created = own.filter(({ answer }) => answer.outcome === 'created').length
    if (ids.size <= 1 && created <= 1) return []
    return [
      { promise: 'one-per-key', what: `${name} was answered with ${ids.size} alarms, ${created} created` },
    ]
  })
}

/** A live alarm has a timer, or it is lost. An ended alarm has none, or it fires again. */
function judgeTimers({ alarms, timers, outcomes }: Rows): Breach[] {
  const statusOf = new Map(outcomes.map(({ alarm, status }) => [alarm, status]))
  return alarms.flatMap((alarm): Breach[] => {
    const current = timers.filter(
      (timer) => timer.alarm === alarm.seq && timer.generation === alarm.generation,
    )
    const status = statusOf.get(alarm.seq) ?? null
    const breaches: Breach[] = []
    if (status === null && current.length === 0)
      breaches.push({
        promise: 'at-least-once',
        what: `alarm ${alarm.seq} is live but has no timer: it is lost`,
      })
    if (status !== null && current.length > 0)
      breaches.push({
        promise: 'recorded-once',
        what: `alarm ${alarm.seq} is ${status} but has a timer: it fires again`,
      })
    const [only] = current
    if (current.length === 1 && only!.waiting === 'overlap' && only!.wake_at === null)
      breaches.push({
        promise: 'at-least-once',
        what: `alarm ${alarm.seq} is queued behind nothing: it is lost`,
      })
    const due = current.filter(({ kind }) => kind === 'due')
    if (due.length > 1)
      breaches.push({
        promise: 'recorded-once',
        what: `alarm ${alarm.seq} has ${due.length} timers for its next occurrence`,
      })
    if (
      alarm.paused_at !== null &&
      current.some(({ waiting, wake_at }) => waiting === 'paused' && wake_at !== null)
    )
      breaches.push({ promise: 'cancel-wins', what: `alarm ${alarm.seq} is paused but will wake` })
    if (status === null && alarm.kind !== 'once' && due.length === 0 && alarm.cancelled_at === null)
      breaches.push({
        promise: 'at-least-once',
        what: `recurring alarm ${alarm.seq} is live but has no next occurrence`,
      })
    return breaches
  })
}

/** Every occurrence has one ending. Only a failed or lost one may have another. */
function judgeRecords(events: readonly EventRow[]): Breach[] {
  const named = events.filter(({ occurrence }) => occurrence !== null)
  return [...Map.groupBy(named, ({ alarm, occurrence }) => `${alarm}/${occurrence}`)].flatMap(
    ([name, records]) => {
      const types = records.map(({ type }) => type)
      const breaches: Breach[] = []
      let ends = 0
      for (const type of types) {
        if (type === 'alarm.attempt_failed') ends = 0
        else if (ENDS.includes(type)) ends += 1
        if (ends > 1)
          breaches.push({ promise: 'recorded-once', what: `${name} ended twice: ${types.join(', ')}` })
      }
      if (types.filter((type) => JUDGEMENTS.includes(type)).length > 1)
        breaches.push({ promise: 'recorded-once', what: `${name} has two results: ${types.join(', ')}` })
      return breaches
    },
  )
}

/** The incrementally maintained tallies must equal a recount. */
function judgeCounters({ alarms, timers, events, outcomes, tallies }: Rows): Breach[] {
  const statusOf = new Map(outcomes.map(({ alarm, status }) => [alarm, status]))
  const counted: Record<string, number> = {
    total: alarms.length, pending: 0, fired: 0, completed: 0, failed: 0, cancelled: 0, timed_out: 0,
  } // biome-ignore format: a list
  const failures = events.filter(({ failure }) => failure !== null)
  for (const alarm of alarms) {
    const own = failures.filter((event) => event.alarm === alarm.seq)
    const status = statusOf.get(alarm.seq) ?? null
    // A one-shot alarm that its target's end has cancelled counts as failed. Occurrences of recurring alarms count each.
    if (alarm.kind === 'once' && own.length > 0) counted[own[0]!.failure!]! += own.length
    else counted[bucket(alarm, status, timers)]! += 1
    if (alarm.kind !== 'once') for (const { failure } of own) counted[failure!]! += 1
  }
  const wrong = Object.entries(counted).filter(
    ([name, count]) => tallies.reduce((sum, row) => sum + row[name]!, 0) !== count,
  )
  if (wrong.length === 0) return []
  const differences = wrong.map(
    ([name, count]) => `${name} is ${tallies.reduce((sum, row) => sum + row[name]!, 0)}, not ${count}`,
  )
  return [{ promise: 'counters', what: `the stored counters are wrong: ${differences.join('; ')}` }]
}

function bucket(alarm: AlarmRow, status: string | null, timers: Rows['timers']): string {
  if (status === 'fired') return 'completed'
  if (status !== null) return status
  const awaits = timers.some((timer) => {
    return timer.alarm === alarm.seq && timer.kind === 'report' && timer.generation === alarm.generation
  })
  return alarm.kind === 'once' && awaits ? 'fired' : 'pending'
}
