import type { Context } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import type { EditResult, SetRequest, SetResult } from '../../index.ts'
import { type NextWakeCache, wait } from '../../sharded/index.ts'
import { type Database, isBroken, isDuplicate, isLockTimeout, isStoreError } from '../connection/index.ts'
import type { ShardMap, WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { type EditJob, editAll } from './edits.ts'
import { type Ending, GroupCommit } from './group-commit.ts'
import { createdAnswer, isKeyed, setAll, setNew } from './sets.ts'

/** One caller's set, written as a whole or not at all. */
export interface SetJob {
  readonly requests: readonly SetRequest[]
  readonly context: Context
}

type Write = <T>(work: (batch: WriteBatch) => Promise<T>) => Promise<T>

const JOBS_MAX = 500
/** New alarms cannot conflict: while the server writes some, others are prepared or answered. */
const GROUPS_MAX = 2
/** A group waits only shortly for a lock of a user's transaction; a single call waits longer. */
const TOGETHER = `SET LOCAL lock_timeout = '250ms'`
const ALONE = `SET LOCAL lock_timeout = '10s'`
const ATTEMPTS_MAX = 3
const TRY_AGAIN_MS = 100

/**
 * Users' writes, committed in groups. Sets that cannot match another alarm share one lane and wait for no lock. Sets
 * by key, and edits, can wait for a user's transaction, and have their own lanes.
 */
export class Writers {
  readonly #database: Database
  readonly #shards: ShardMap
  readonly #nextWakes: NextWakeCache
  readonly #write: Write
  readonly #new: GroupCommit<SetJob, SetResult[]>
  readonly #keyed: GroupCommit<SetJob, SetResult[]>
  readonly #edits: GroupCommit<EditJob, EditResult<unknown>>

  constructor(database: Database, shards: ShardMap, nextWakes: NextWakeCache, write: Write) {
    this.#database = database
    this.#shards = shards
    this.#nextWakes = nextWakes
    this.#write = write
    const { timers } = database
    const jobsMax = JOBS_MAX
    this.#new = new GroupCommit({
      run: (jobs) => this.#setNew(jobs),
      mayDivide: isOfOne,
      timers,
      jobsMax,
      groupsMax: GROUPS_MAX,
    })
    this.#keyed = new GroupCommit({
      run: (jobs, isAlone) => this.#setKeyed(jobs, isAlone),
      mayDivide: isOfOne,
      timers,
      jobsMax,
    })
    this.#edits = new GroupCommit({
      run: (jobs, isAlone) => this.#edit(jobs, isAlone),
      mayDivide: isOfOne,
      timers,
      jobsMax,
    })
  }

  async set(job: SetJob): Promise<SetResult[]> {
    if (job.requests.length === 0) return []
    await this.#know(job)
    return job.requests.some(isKeyed) ? this.#keyed.submit(job) : this.#new.submit(job)
  }

  /** The same in a user's transaction. */
  async setIn(batch: WriteBatch, job: SetJob): Promise<SetResult[]> {
    await this.#know(job)
    return setAll(batch, indexed([job]))
  }

  edit(job: EditJob): Promise<EditResult<unknown>> {
    return this.#edits.submit(job)
  }

  async editIn(batch: WriteBatch, job: EditJob): Promise<EditResult<unknown>> {
    const [ending] = await editAll(batch, [job])
    if ('refusal' in ending!) throw ending.refusal
    return ending!.answer
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    await Promise.all([this.#new.settled(), this.#keyed.settled(), this.#edits.settled()])
  }

  #know({ requests }: SetJob): Promise<void> {
    return this.#shards.ensure(requests.map(({ alarm }) => alarm.target.pool))
  }

  /**
   * If the answer to a commit is lost, the ids, which the callers made, show whether it happened: all of a group
   * exist, or none.
   */
  async #setNew(jobs: readonly SetJob[]): Promise<Ending<SetResult[]>[]> {
    const requests = jobs.flatMap((job) => job.requests)
    let unanswered: unknown = null
    for (let attempt = 1; ; attempt++) {
      try {
        const answers = await this.#write((batch) => setNew(batch, requests))
        return divided(jobs, answers)
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
        const answers = await this.#write((batch) => {
          batch.session.send(isAlone ? ALONE : TOGETHER)
          return setAll(batch, indexed(jobs))
        })
        return divided(jobs, answers)
      } catch (thrown) {
        // Another call has just set the same key: the next attempt finds it.
        if (!isDuplicate(thrown) || attempt >= ATTEMPTS_MAX) throw lockAdvice(thrown, isAlone)
      }
    }
  }

  async #edit(jobs: readonly EditJob[], isAlone: boolean): Promise<Ending<EditResult<unknown>>[]> {
    try {
      return await this.#write((batch) => {
        batch.session.send(isAlone ? ALONE : TOGETHER)
        return editAll(batch, jobs)
      })
    } catch (thrown) {
      throw lockAdvice(thrown, isAlone)
    }
  }
}

/** Whether one job of a group may be the cause: its row, or a lock that it alone waits for. */
function isOfOne(thrown: unknown): boolean {
  return isLockTimeout(thrown) || !isStoreError(thrown)
}

function lockAdvice(thrown: unknown, isAlone: boolean): unknown {
  if (!isAlone || !isLockTimeout(thrown)) return thrown
  return new WakefulError('store.locked', {}, { cause: thrown })
}

function indexed(jobs: readonly SetJob[]) {
  return jobs.flatMap(({ requests, context }) => requests.map((request) => ({ request, context })))
}

/** Each caller's part of the answers. */
function divided(jobs: readonly SetJob[], answers: readonly SetResult[]): Ending<SetResult[]>[] {
  let from = 0
  return jobs.map(({ requests }) => {
    from += requests.length
    return { answer: answers.slice(from - requests.length, from) }
  })
}
