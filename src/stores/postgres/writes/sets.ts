import {
  type Alarm,
  bySerial,
  type Context,
  newSnapshot,
  replace,
  type Serial,
  type Snapshot,
  snapshotAfter,
} from '../../../alarm/index.ts'
import type { SetRequest, SetResult, StoredSnapshot } from '../../index.ts'
import { type NextWakeCache, wait } from '../../sharded/index.ts'
import { type Database, isBroken, isDuplicate, type Session } from '../connection/index.ts'
import {
  apply,
  assertCalendars,
  lockSnapshots,
  readSnapshots,
  type ShardMap,
  seqsNamed,
  snapshotIn,
  type Write,
  type WriteBatch,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { type Ending, GroupCommit, writeWaiting } from './group-commit.ts'

/** One caller's set, written as a whole or not at all. */
export interface SetJob {
  readonly requests: readonly SetRequest[]
  readonly context: Context
}

/** New alarms cannot conflict: while the server writes some, others are prepared or answered. */
const GROUPS_MAX = 2
const ATTEMPTS_MAX = 3
const TRY_AGAIN_MS = 100

/** Whether a request can match an alarm that exists already. */
export function isKeyed({ alarm }: SetRequest): boolean {
  return alarm.key !== null || alarm.idempotencyKey !== null
}

/** The result of a set that created an alarm. */
function createdAnswer({ alarm, timer }: SetRequest): SetResult {
  return { outcome: 'created', snapshot: newSnapshot(alarm, timer) }
}

/**
 * Users' sets, committed in groups. Those that cannot match another alarm share one lane and wait for no lock. Those
 * by key can wait for a user's transaction, and have their own.
 */
export class Sets {
  readonly #database: Database
  readonly #shards: ShardMap
  readonly #nextWakes: NextWakeCache
  readonly #write: Write
  readonly #new: GroupCommit<SetJob, SetResult[]>
  readonly #keyed: GroupCommit<SetJob, SetResult[]>

  constructor(database: Database, shards: ShardMap, nextWakes: NextWakeCache, write: Write) {
    this.#database = database
    this.#shards = shards
    this.#nextWakes = nextWakes
    this.#write = write
    this.#new = new GroupCommit(database.timers, (jobs) => this.#setNew(jobs), GROUPS_MAX)
    this.#keyed = new GroupCommit(database.timers, (jobs, isAlone) => this.#setKeyed(jobs, isAlone))
  }

  async set(job: SetJob): Promise<SetResult[]> {
    if (job.requests.length === 0) return []
    await this.#know(job)
    return job.requests.some(isKeyed) ? this.#keyed.submit(job) : this.#new.submit(job)
  }

  /** The same in a user's transaction. */
  async setIn(batch: WriteBatch, job: SetJob): Promise<SetResult[]> {
    await this.#know(job)
    return setAll(batch, [job])
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    await Promise.all([this.#new.settled(), this.#keyed.settled()])
  }

  #know({ requests }: SetJob): Promise<void> {
    return this.#shards.ensure(requests.map(({ alarm }) => alarm.target.pool))
  }

  /**
   * One statement, however many alarms. If the answer to a commit is lost, the ids, which the callers made, show
   * whether it happened: all of a group exist, or none.
   */
  async #setNew(jobs: readonly SetJob[]): Promise<Ending<SetResult[]>[]> {
    const requests = jobs.flatMap((job) => job.requests)
    let unanswered: unknown = null
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#write(async (batch) => {
          const recurring = requests.flatMap(({ alarm }) => (alarm.rule.kind === 'once' ? [] : alarm))
          if (recurring.length > 0) await assertCalendars(batch.session, recurring)
          // Not flushed here: together with the tallies it is one statement, and that is the whole transaction.
          for (const { alarm, timer } of requests) batch.insertAlarm(alarm, timer)
        })
        return divided(jobs, requests.map(createdAnswer))
      } catch (thrown) {
        if (isBroken(thrown)) unanswered = thrown
        else if (unanswered === null || !isDuplicate(thrown)) throw thrown
        await wait(this.#database.timers, attempt * TRY_AGAIN_MS)
        if (await this.#areThere(requests)) return divided(jobs, requests.map(createdAnswer))
        // Not "already exists", which would blame a row: whether it was committed is unknown.
        if (attempt >= ATTEMPTS_MAX) throw unanswered
      }
    }
  }

  async #areThere(requests: readonly SetRequest[]): Promise<boolean> {
    const ids = requests.map(({ alarm }) => alarm.id)
    try {
      return (await this.#database.session.rows(sql.knownIds, ids)).length === new Set(ids).size
    } catch {
      return false
    } finally {
      // Their wakes were not noted, and scans may have passed their positions.
      for (const { timer } of requests) if (timer.wakeAt !== null) this.#nextWakes.lower(null, timer.wakeAt)
    }
  }

  async #setKeyed(jobs: readonly SetJob[], isAlone: boolean): Promise<Ending<SetResult[]>[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return divided(jobs, await writeWaiting(this.#write, isAlone, (batch) => setAll(batch, jobs)))
      } catch (thrown) {
        // Another call has just set the same key: the next attempt finds it.
        if (!isDuplicate(thrown) || attempt >= ATTEMPTS_MAX) throw thrown
      }
    }
  }
}

/** Each caller's part of the answers. */
function divided(jobs: readonly SetJob[], answers: readonly SetResult[]): Ending<SetResult[]>[] {
  let from = 0
  return jobs.map(({ requests }) => {
    from += requests.length
    return { answer: answers.slice(from - requests.length, from) }
  })
}

/** A request with its index among the others, and its caller's context. */
interface IndexedRequest {
  readonly request: SetRequest
  readonly context: Context
  readonly index: number
}

/**
 * Writes alarms in order: known idempotency keys return the first alarm, known keys are set again. Requests that name
 * the same alarm run one after the other, the rest together.
 */
async function setAll(batch: WriteBatch, jobs: readonly SetJob[]): Promise<SetResult[]> {
  const answers: SetResult[] = []
  const all = jobs.flatMap(({ requests, context }) => requests.map((request) => ({ request, context })))
  let left: readonly IndexedRequest[] = all.map((each, index) => ({ ...each, index }))
  while (left.length > 0) {
    const met = new Set<string>()
    const [now, later]: [IndexedRequest[], IndexedRequest[]] = [[], []]
    for (const indexed of left) {
      const names = namesOf(indexed.request.alarm)
      ;(names.some((name) => met.has(name)) ? later : now).push(indexed)
      for (const name of names) met.add(name)
    }
    const round = await setRound(batch, now)
    for (const [index, answer] of round) answers[index] = answer
    // An alarm that was found and then pruned, before it was locked, is looked up again: now it is new.
    const again = now.filter(({ index }) => !round.has(index))
    const answered = now.filter(({ index }) => round.has(index))
    left = [...again, ...repeatsAnswered(later, answers, answered)]
  }
  return answers
}

/** Answers requests that repeat an idempotency key of the previous round, which no key can have replaced since. */
function repeatsAnswered(
  later: readonly IndexedRequest[],
  answers: SetResult[],
  round: readonly IndexedRequest[],
): IndexedRequest[] {
  const firsts = new Map(
    round.flatMap(({ request: { alarm }, index }) =>
      alarm.idempotencyKey === null || alarm.key !== null ? [] : [[nameOf('i', alarm), index] as const],
    ),
  )
  return later.filter(({ request: { alarm }, index }) => {
    const first = alarm.key === null ? firsts.get(nameOf('i', alarm)) : undefined
    if (first === undefined) return true
    answers[index] = { ...answers[first]!, outcome: 'deduped' }
    return false
  })
}

function namesOf(alarm: Alarm): string[] {
  const names: string[] = []
  if (alarm.idempotencyKey !== null) names.push(nameOf('i', alarm))
  if (alarm.key !== null) names.push(nameOf('k', alarm))
  return names
}

function nameOf(kind: 'i' | 'k', { tenant, owner, key, idempotencyKey }: Alarm): string {
  return JSON.stringify([kind, tenant, owner, kind === 'i' ? idempotencyKey : key])
}

/** Answers by index; none for alarms that were pruned in the meantime, for which nothing is written. */
async function setRound(
  batch: WriteBatch,
  round: readonly IndexedRequest[],
): Promise<Map<number, SetResult>> {
  const { session } = batch
  const idempotencyKeyOf = ({ idempotencyKey }: Alarm) => idempotencyKey
  const [current, kept, keyed] = await Promise.all([
    known(session, sql.seqsOfIdempotencyKeys, round, idempotencyKeyOf),
    known(session, sql.seqsOfKeptKeys, round, idempotencyKeyOf),
    known(session, sql.seqsOfKeys, round, ({ key }) => key),
  ])
  const firsts = new Map([...kept, ...current])
  const rest = round.filter(({ index }) => !firsts.has(index))
  await assertCalendars(
    session,
    rest.map(({ request }) => request.alarm),
  )
  const replaced = rest.filter(({ index }) => keyed.has(index))
  const fresh = rest.filter(({ index }) => !keyed.has(index))
  const seqs = replaced.map(({ index }) => keyed.get(index)!)
  const locked = await lockSnapshots(session, [...seqs].sort(bySerial), batch.moment)
  const answers = new Map<number, SetResult>()
  for (const { index, request, context } of replaced) {
    const snapshot = snapshotIn(locked, keyed.get(index)!)
    if (snapshot === undefined) continue
    answers.set(index, { outcome: 'replaced', snapshot: setAgain(batch, snapshot, request, context) })
  }
  for (const { request } of fresh) batch.insertAlarm(request.alarm, request.timer)
  // Flushed now: at the end, alarms with keys would be written together with the tallies.
  await batch.flush()
  const first = await readSnapshots(session, [...firsts.values()])
  for (const [index, seq] of firsts) {
    const snapshot = snapshotIn(first, seq)
    if (snapshot !== undefined) answers.set(index, { outcome: 'deduped', snapshot })
  }
  for (const { index, request } of fresh) answers.set(index, createdAnswer(request))
  return answers
}

/** The rows of known alarms with these names, by the index of the request. */
async function known(
  session: Session,
  text: string,
  round: readonly IndexedRequest[],
  nameOf: (alarm: Alarm) => string | null,
): Promise<Map<number, Serial>> {
  const named = round.filter(({ request }) => nameOf(request.alarm) !== null)
  const names = named.map(({ request: { alarm } }) => {
    return { tenant: alarm.tenant, owner: alarm.owner, name: nameOf(alarm)! }
  })
  const seqs = await seqsNamed(session, text, names)
  return new Map([...seqs].map(([place, seq]) => [named[place]!.index, seq]))
}

function setAgain(
  batch: WriteBatch,
  snapshot: StoredSnapshot,
  request: SetRequest,
  context: Context,
): Snapshot {
  const { scheduledFor: first, nominal } = request.timer
  const by = { alarm: request.alarm, first, nominal: nominal ?? first }
  const change = replace(snapshot, by, 'set_again', context)
  apply(batch, snapshot.alarm, snapshot.timers, change, context)
  return snapshotAfter(snapshot, change)
}
