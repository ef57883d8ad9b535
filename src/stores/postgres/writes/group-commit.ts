import { WakefulError } from '../../../error.ts'
import type { Timers } from '../../sharded/index.ts'
import { isLockTimeout, isStoreError } from '../connection/index.ts'
import type { Write, WriteBatch } from '../rows/index.ts'

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
  write: Write,
  isAlone: boolean,
  work: (batch: WriteBatch) => Promise<T>,
): Promise<T> {
  try {
    return await write((batch) => {
      batch.session.send(isAlone ? ALONE : TOGETHER)
      return work(batch)
    })
  } catch (thrown) {
    if (!isAlone || !isLockTimeout(thrown)) throw thrown
    throw new WakefulError('store.locked', {}, { cause: thrown })
  }
}
