import { occurrenceId } from '../../src/alarm/index.ts'
import type { ClaimedTimer, Lease } from '../../src/stores/index.ts'
import { ANSWER_LOST } from './interceptor.ts'
import type { Note } from './notes.ts'
import type { AlarmRow, EventRow, Rows } from './rows.ts'
import type { Step } from './schedule.ts'

/** What may be broken. */
export type Promised =
  | 'fenced'
  | 'cancel-wins'
  | 'recorded-once'
  | 'at-least-once'
  | 'no-deadlock'
  | 'reader-misses-none'
  | 'liveness'
  | 'figures'
  | 'one-per-key'

/** A promise that was not kept, and how. */
export interface Breach {
  readonly promise: Promised
  readonly what: string
}

const ENDS = ['alarm.fired', 'alarm.skipped', 'schedule.ticked', 'timer.due_time_reached']
const JUDGEMENTS = ['alarm.completed', 'alarm.timed_out', 'alarm.failed']

/** A taking with when it was handed out. */
interface Handed {
  readonly at: number
  readonly process: string
  readonly taking: ClaimedTimer
}

/** Judges by what the actors were answered, in the order of the answers. */
export function judgeAnswers(notes: readonly Note[], story: readonly Step[]): Breach[] {
  return [
    ...judgeCancels(notes, story),
    ...judgeTakings(notes),
    ...judgeLeases(notes),
    ...judgeFences(notes, story),
    ...judgeSets(notes),
  ]
}

/** Judges by the rows as they stand while nobody is at work. */
export function judgeRows(rows: Rows, hasPruned: boolean): Breach[] {
  return [...judgeTimers(rows), ...judgeRecords(rows.events), ...(hasPruned ? [] : judgeFigures(rows))]
}

function handedOut(notes: readonly Note[]): Handed[] {
  return notes.flatMap((note) =>
    note.kind !== 'take'
      ? []
      : note.taken.timers.map((taking) => ({ at: note.at, process: note.process, taking })),
  )
}

/** When a taking's delivery was over for good: its settle was committed, or answered otherwise. */
function settledAt(
  notes: readonly Note[],
  story: readonly Step[],
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
  const committed = story.findIndex((step, index) => index >= from && index < over.at && isCommit(step))
  return committed < 0 ? over.at : committed
}

/**
 * Once `cancelled` is answered, nothing of the alarm may be about to start, nor be handed out later; once `firing` is, it
 * is neither tried again nor recurs.
 */
function judgeCancels(notes: readonly Note[], story: readonly Step[]): Breach[] {
  return notes.flatMap((note): Breach[] => {
    if (note.kind !== 'cancel' || note.outcome === undefined || note.outcome === 'ended') return []
    const setAgain = notes.find(
      (each) => each.kind === 'set' && each.answer.snapshot.alarm.id === note.alarmId && each.at > note.at,
    )
    const until = setAgain?.at ?? Number.POSITIVE_INFINITY
    const own = handedOut(notes).filter(({ at, taking }) => taking.alarm.id === note.alarmId && at < until)
    // A take that lost its answer was recorded as firing, and begins to fire when it is repeated.
    const first = own[0]?.at
    const isLate = ({ at, taking }: Handed) => {
      if (at > note.at) return note.outcome === 'cancelled' || at !== first
      // Under a lease that has ended nothing starts any more.
      const mayStart = taking.lease.until > note.monotonic
      return note.outcome === 'cancelled' && mayStart && settledAt(notes, story, taking, at) > note.at
    }
    return own.filter(isLate).map(({ at, process }) => ({
      promise: 'cancel-wins',
      what: `cancel was answered "${note.outcome}" (step ${note.at}), and ${process} was handed it (step ${at})`,
    }))
  })
}

/** The same version is handed out once; after a lost delivery the next one counts it. */
function judgeTakings(notes: readonly Note[]): Breach[] {
  const breaches: Breach[] = []
  const met = new Map<string, Handed>()
  const occurrences = new Map<string, Handed>()
  for (const handed of handedOut(notes)) {
    const { timer, alarm, lease } = handed.taking
    const version = `${timer.id}:${timer.version}`
    const name = occurrenceId(alarm, timer)
    const before = met.get(version)
    if (before !== undefined)
      breaches.push({
        promise: 'recorded-once',
        what: `timer ${version} was handed out twice (steps ${before.at} and ${handed.at}): it fires twice`,
      })
    met.set(version, handed)
    const earlier = occurrences.get(name)
    const wasLost = earlier !== undefined && earlier.taking.lease.epoch !== lease.epoch
    if (wasLost && !isAccepted(notes, earlier.taking) && timer.attempt <= earlier.taking.timer.attempt)
      breaches.push({
        promise: 'fenced',
        what: `${name} was in flight when its owner was replaced, and is handed out again as attempt ${timer.attempt + 1}: the lost one is not counted`,
      })
    if (earlier !== undefined && isDone(notes, earlier.taking))
      breaches.push({
        promise: 'recorded-once',
        what: `${name} was delivered and settled, and is handed out again (step ${handed.at})`,
      })
    occurrences.set(name, handed)
  }
  return breaches
}

function isAccepted(notes: readonly Note[], taking: ClaimedTimer): boolean {
  return acceptedAs(notes, taking).length > 0
}

function isDone(notes: readonly Note[], taking: ClaimedTimer): boolean {
  return acceptedAs(notes, taking).includes('delivered')
}

/** What the accepted settles of a taking said. */
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

/** Two owners never both may start deliveries of one shard. */
function judgeLeases(notes: readonly Note[]): Breach[] {
  const breaches: Breach[] = []
  const held = new Map<string, readonly Lease[]>()
  for (const note of notes) {
    if (note.kind === 'disown') {
      for (const { holder: owner } of note.leases) held.delete(owner)
      continue
    }
    if (note.kind !== 'own') continue
    held.set(note.owner, note.leases)
    for (const [owner, leases] of held) {
      if (owner === note.owner) continue
      const both = leases.find(
        (lease) => lease.until > note.monotonic && note.leases.some(({ shard }) => shard === lease.shard),
      )
      if (both !== undefined)
        breaches.push({
          promise: 'fenced',
          what: `${note.owner} was given shard ${both.shard} (step ${note.at}) while the lease of ${owner} lasts`,
        })
    }
  }
  return breaches
}

/** Once a newer epoch of a shard is committed, nothing of an older one is, and whoever tries is told. */
function judgeFences(notes: readonly Note[], story: readonly Step[]): Breach[] {
  const commitOf = ({ at, process }: Note) =>
    story.findLastIndex((step, index) => index < at && step.process === process && step.what === 'COMMIT')
  const claims = notes.flatMap((note) =>
    note.kind === 'own' ? note.leases.map((lease) => ({ ...lease, at: commitOf(note) })) : [],
  )
  const isVoid = ({ shard, epoch }: Lease, at: number) =>
    claims.some((claim) => claim.shard === shard && claim.epoch > epoch && claim.at >= 0 && claim.at < at)
  return notes.flatMap((note): Breach[] => {
    const at = commitOf(note)
    return spokenFor(note)
      .filter((lease) => isVoid(lease, at))
      .map(({ epoch }) => ({
        promise: 'fenced',
        what: `a ${note.kind} of epoch ${epoch} ended (step ${at}) after a newer owner's claim, and was not told so`,
      }))
  })
}

/** The leases under which something was said, and which were not answered to be lost. */
function spokenFor(note: Note): Lease[] {
  if (note.kind === 'take') return note.taken.timers.map(({ lease }) => lease)
  if (note.kind !== 'settle') return []
  return note.settlements.map(({ lease }) => lease).filter((lease) => !hasLost(note.settled.lost, lease))
}

function judgeSets(notes: readonly Note[]): Breach[] {
  const sets = notes.flatMap((note) => (note.kind === 'set' ? [note] : []))
  if (sets.some(({ answer }) => (answer.snapshot as unknown) === undefined))
    return [{ promise: 'at-least-once', what: 'a set was answered, and there is no alarm' }]
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

/** What lives has something to wait for, else it is lost; what ended has nothing, else it fires again. */
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
        what: `alarm ${alarm.seq} lives and has no timer: it is lost`,
      })
    if (status !== null && current.length > 0)
      breaches.push({
        promise: 'recorded-once',
        what: `alarm ${alarm.seq} is ${status} and has a timer: it fires again`,
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
      breaches.push({ promise: 'cancel-wins', what: `alarm ${alarm.seq} is paused, and wakes` })
    if (status === null && alarm.kind !== 'once' && due.length === 0 && alarm.cancelled_at === null)
      breaches.push({
        promise: 'at-least-once',
        what: `recurring alarm ${alarm.seq} lives and has no next occurrence`,
      })
    return breaches
  })
}

/** Every occurrence ends as one record; only what failed, or was lost, may come to another end. */
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
        breaches.push({ promise: 'recorded-once', what: `${name} was judged twice: ${types.join(', ')}` })
      return breaches
    },
  )
}

/** The figures are kept as alarms move, and must equal counting them. */
function judgeFigures({ alarms, timers, outcomes, tallies }: Rows): Breach[] {
  const statusOf = new Map(outcomes.map(({ alarm, status }) => [alarm, status]))
  const counted: Record<string, number> = {
    total: alarms.length, pending: 0, fired: 0, completed: 0, failed: 0, cancelled: 0, timed_out: 0,
  } // biome-ignore format: a list
  for (const alarm of alarms) counted[bucket(alarm, statusOf.get(alarm.seq) ?? null, timers)]! += 1
  const wrong = Object.entries(counted).filter(
    ([name, count]) => tallies.reduce((sum, row) => sum + row[name]!, 0) !== count,
  )
  if (wrong.length === 0) return []
  const said = wrong.map(
    ([name, count]) => `${name} is ${tallies.reduce((sum, row) => sum + row[name]!, 0)}, not ${count}`,
  )
  return [{ promise: 'figures', what: `the figures are wrong: ${said.join('; ')}` }]
}

function bucket(alarm: AlarmRow, status: string | null, timers: Rows['timers']): string {
  if (status === 'fired') return 'completed'
  if (status !== null) return status
  const awaits = timers.some((timer) => {
    return timer.alarm === alarm.seq && timer.kind === 'report' && timer.generation === alarm.generation
  })
  return alarm.kind === 'once' && awaits ? 'fired' : 'pending'
}
