import { newSnapshot } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import type { SetRequest, SetResult } from '../../index.ts'
import { type NextWakeCache, type Timers, wait } from '../../sharded/index.ts'
import { type Database, isBroken, isDuplicate, isLockTimeout, isStoreError } from '../connection/index.ts'
import { assertCalendars, type RunInTransaction, type ShardMap, type WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { type SetJob, setAll } from './sets.ts'

/** Calls that wait for the same commit. */
interface Waiting<J, A> {
  readonly job: J
  readonly resolve: (answer: A) => void
  readonly reject: (reason: unknown) => void
}

/** The results of the jobs in a group: an answer, or an error of that job alone. */
export type Ending<A> = { readonly answer: A } | { readonly refusal: unknown }

/** Runs jobs in one transaction and answers after its commit; a throw means that nothing was written. */
export type RunGroup<J, A> = (jobs: readonly J[], isAlone: boolean) => Promise<readonly Ending<A>[]>

const JOBS_MAX = 500
/**
 * A commit takes about as long for one job as for this many: fewer do not start another commit while one is under
 * way.
 */
const SHARE_MIN = 16

/**
 * Concurrent callers share one transaction, and each is answered after its commit (promise: durable). A lone caller
 * does not wait: jobs gather only while a commit is under way. Many jobs may be split into several groups, so that
 * the callers of one are answered while the server writes another. A group that fails is bisected until the job that
 * caused the error is alone.
 */
export class GroupCommit<J, A> {
  readonly #timers: Timers
  readonly #run: RunGroup<J, A>
  readonly #groupsMax: number
  readonly #underWay = new Set<Promise<void>>()
  #waiting: Waiting<J, A>[] = []
  #gathering: Promise<void> | null = null

  /** `groupsMax` are the concurrent groups: more than one only if jobs cannot conflict with each other. */
  constructor(timers: Timers, run: RunGroup<J, A>, groupsMax = 1) {
    this.#timers = timers
    this.#run = run
    this.#groupsMax = groupsMax
  }

  submit(job: J): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      if (this.#mayFly()) this.#gathering ??= this.#gather()
    })
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    while (this.#gathering !== null || this.#underWay.size > 0)
      await Promise.all([this.#gathering, ...this.#underWay])
  }

  async #gather(): Promise<void> {
    // At the end of this turn of the event loop, so that its other callers join.
    await new Promise<void>((resolve) => this.#timers.soon(resolve))
    this.#gathering = null
    while (this.#waiting.length > 0 && this.#mayFly()) this.#fly(this.#waiting.splice(0, this.#share()))
  }

  #mayFly(): boolean {
    const { size } = this.#underWay
    return size === 0 || (size < this.#groupsMax && this.#waiting.length >= SHARE_MIN)
  }

  /** The size of the next group: all jobs, or an equal part if each part is worth a commit. */
  #share(): number {
    const free = this.#groupsMax - this.#underWay.size
    const all = this.#waiting.length
    return Math.min(JOBS_MAX, all < free * SHARE_MIN ? all : Math.ceil(all / free))
  }

  #fly(group: readonly Waiting<J, A>[]): void {
    const commit = this.#runAll(group).finally(() => {
      this.#underWay.delete(commit)
      if (this.#waiting.length > 0) this.#gathering ??= this.#gather()
    })
    this.#underWay.add(commit)
  }

  async #runAll(group: readonly Waiting<J, A>[]): Promise<void> {
    const isAlone = group.length === 1
    try {
      const jobs = group.map(({ job }) => job)
      const endings = await this.#run(jobs, isAlone)
      for (const [index, ending] of endings.entries()) {
        const { resolve, reject } = group[index]!
        if ('answer' in ending) resolve(ending.answer)
        else reject(ending.refusal)
      }
    } catch (thrown) {
      if (isAlone || !mayBeOfOne(thrown)) {
        for (const { reject } of group) reject(thrown)
        return
      }
      // Both at once: a half that waits for a lock does not delay the other. Concurrent callers have no order.
      const middle = group.length >> 1
      await Promise.all([this.#runAll(group.slice(0, middle)), this.#runAll(group.slice(middle))])
    }
  }
}

/** Whether one job of a group may be the cause: its row, or a lock that it alone waits for. */
function mayBeOfOne(thrown: unknown): boolean {
  return isLockTimeout(thrown) || !isStoreError(thrown)
}

/** A group waits only shortly for a lock of a user's transaction; a single call waits longer. */
const TOGETHER = `SET LOCAL lock_timeout = '250ms'`
const ALONE = `SET LOCAL lock_timeout = '10s'`

/** Writes what may have to wait for such a lock. */
export async function writeWaiting<T>(
  inTransaction: RunInTransaction,
  isAlone: boolean,
  work: (batch: WriteBatch) => Promise<T>,
): Promise<T> {
  try {
    return await inTransaction((batch) => {
      batch.session.send(isAlone ? ALONE : TOGETHER)
      return work(batch)
    })
  } catch (thrown) {
    if (!isAlone || !isLockTimeout(thrown)) throw thrown
    throw new WakefulError('store.locked', {}, { cause: thrown })
  }
}

/** New alarms cannot conflict: while the server writes some, others are prepared or answered. */
const GROUPS_MAX = 2
const ATTEMPTS_MAX = 3
const TRY_AGAIN_MS = 100

/** Whether a request can match an alarm that exists already. */
export function isKeyed({ alarm }: SetRequest): boolean {
  return alarm.key !== null || alarm.idempotencyKey !== null
}

/**
 * Users' sets, committed in groups. Those that cannot match another alarm share one lane and wait for no lock. Those
 * by key can wait for a user's transaction, and have their own.
 */
export class Sets {
  readonly #database: Database
  readonly #shards: ShardMap
  readonly #nextWakes: NextWakeCache
  readonly #inTransaction: RunInTransaction
  readonly #new: GroupCommit<SetJob, SetResult[]>
  readonly #keyed: GroupCommit<SetJob, SetResult[]>

  constructor(
    database: Database,
    shards: ShardMap,
    nextWakes: NextWakeCache,
    inTransaction: RunInTransaction,
  ) {
    this.#database = database
    this.#shards = shards
    this.#nextWakes = nextWakes
    this.#inTransaction = inTransaction
    this.#new = new GroupCommit(database.timers, (jobs) => this.#setNew(jobs), GROUPS_MAX)
    this.#keyed = new GroupCommit(database.timers, (jobs, isAlone) => this.#setKeyed(jobs, isAlone))
  }

  async set(job: SetJob): Promise<SetResult[]> {
    if (job.requests.length === 0) return []
    await this.#shards.ensure(job.requests.map(({ alarm }) => alarm.target.pool))
    return job.requests.some(isKeyed) ? this.#keyed.submit(job) : this.#new.submit(job)
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    await Promise.all([this.#new.settled(), this.#keyed.settled()])
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
        await this.#inTransaction(async (batch) => {
          const recurring = requests.flatMap(({ alarm }) => (alarm.rule.kind === 'once' ? [] : alarm))
          if (recurring.length > 0) await assertCalendars(batch.session, recurring)
          // Not flushed here: together with the tallies it is one statement, and that is the whole transaction.
          for (const { alarm, timer } of requests) batch.insertAlarm(alarm, timer)
        })
        return divided(jobs, requests.map(created))
      } catch (thrown) {
        if (isBroken(thrown)) unanswered = thrown
        else if (unanswered === null || !isDuplicate(thrown)) throw thrown
        await wait(this.#database.timers, attempt * TRY_AGAIN_MS)
        if (await this.#areThere(requests)) return divided(jobs, requests.map(created))
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
      for (const { timer } of requests)
        if (timer.wakeAt !== null) this.#nextWakes.noteWake(null, timer.wakeAt)
    }
  }

  async #setKeyed(jobs: readonly SetJob[], isAlone: boolean): Promise<Ending<SetResult[]>[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return divided(jobs, await writeWaiting(this.#inTransaction, isAlone, (batch) => setAll(batch, jobs)))
      } catch (thrown) {
        // Another call has just set the same key: the next attempt finds it.
        if (!isDuplicate(thrown) || attempt >= ATTEMPTS_MAX) throw thrown
      }
    }
  }
}

/** The result of a set that created an alarm. */
function created({ alarm, timer }: SetRequest): SetResult {
  return { outcome: 'created', snapshot: newSnapshot(alarm, timer) }
}

/** Each caller's part of the answers. */
function divided(jobs: readonly SetJob[], answers: readonly SetResult[]): Ending<SetResult[]>[] {
  let from = 0
  return jobs.map(({ requests }) => {
    from += requests.length
    return { answer: answers.slice(from - requests.length, from) }
  })
}
