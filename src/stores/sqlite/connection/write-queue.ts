import { AsyncLocalStorage } from 'node:async_hooks'
import { WakefulError } from '../../../error.ts'
import { beginImmediate, realSystem, SavepointNeeded, type Session, type System } from './connection.ts'
import { storeFailure } from './errors.ts'

interface Job {
  readonly work: (session: Session) => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (reason: unknown) => void
}

/** Jobs per transaction. Bounds how long the event loop is blocked. */
const JOBS_PER_COMMIT_MAX = 2_000
/** Transactions that use savepoints after one that failed without: otherwise a caller that often fails makes everything run twice. */
const SAVEPOINT_COMMITS = 20

/**
 * One writer per process. Concurrent callers share a transaction and its fsync (group commit), and each gets its answer
 * after the commit (promise: durable). A job that fails is rolled back alone: jobs first run without savepoints, which is
 * faster, and if one of them fails, all are rolled back and run again with savepoints. So a job may run twice.
 */
export class WriteQueue {
  readonly #session: Session
  readonly #path: string
  readonly #busyMs: number
  readonly #system: System
  /** Marks calls from within exclusive work, which would wait for themselves. */
  readonly #inExclusive = new AsyncLocalStorage<{ isOpen: boolean }>()
  #jobs: Job[] = []
  #scheduled = false
  #savepointsFor = 0
  #exclusive: Promise<unknown> | null = null
  /** Resolves when the last exclusive work that was requested is done. */
  #turn: Promise<void> | null = null
  #flushing: Promise<unknown> | null = null
  #closed = false

  constructor(session: Session, path: string, busyMs: number, system: System = realSystem) {
    this.#session = session
    this.#path = path
    this.#busyMs = busyMs
    this.#system = system
  }

  /** Runs work in the next transaction; resolves when it is on disk. */
  run<T>(work: (session: Session) => T): Promise<T> {
    // A timer that such work has set carries the mark too, but by then the work is no longer open.
    if (this.#inExclusive.getStore()?.isOpen === true)
      return Promise.reject(new WakefulError('store.inside_transaction', {}))
    if (this.#closed) return Promise.reject(new WakefulError('store.closed', { name: this.#path }))
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ work, resolve, reject })
      this.#schedule()
    })
  }

  /** Delays all other writes of this process while work runs; in memory, on the same connection. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#turn
    const { promise: turn, resolve: done } = Promise.withResolvers<void>()
    this.#turn = turn
    if (before !== null) await before
    // Queued jobs go first: consecutive transactions must not keep them from the lock.
    if (this.#jobs.length > 0) await this.run(() => {}).catch(() => {})
    for (let busy = this.#busyWith(); busy !== null; busy = this.#busyWith()) await busy.catch(() => {})
    const inside = { isOpen: true }
    const running = this.#inExclusive.run(inside, work)
    this.#exclusive = running
    try {
      return await running
    } finally {
      inside.isOpen = false
      this.#exclusive = null
      this.#schedule()
      if (this.#turn === turn) this.#turn = null
      done()
    }
  }

  /** Writes what is queued, then refuses more. */
  async close(): Promise<void> {
    if (this.#inExclusive.getStore()?.isOpen === true) throw new WakefulError('store.inside_transaction', {})
    // Exclusive work that is still running was abandoned by the shutdown; do not wait for it.
    if (this.#exclusive === null) await this.run(() => {}).catch(() => {})
    this.#closed = true
    const closed = new WakefulError('store.closed', { name: this.#path })
    for (const job of this.#jobs.splice(0)) job.reject(closed)
  }

  // At the end of this turn, so that its callers share the commit. A single caller does not wait.
  #schedule(): void {
    if (this.#scheduled || this.#jobs.length === 0 || this.#exclusive !== null) return
    this.#scheduled = true
    this.#system.soon(() => {
      this.#flushing = this.#exclusive === null ? this.#flush() : Promise.resolve()
      void this.#flushing.finally(() => {
        this.#flushing = null
        this.#scheduled = false
        this.#schedule()
      })
    })
  }

  #busyWith(): Promise<unknown> | null {
    return this.#exclusive ?? this.#flushing
  }

  async #flush(): Promise<void> {
    let jobs: Job[] = []
    let answers: unknown[]
    try {
      // What is queued while it waits for the lock shares the transaction.
      await this.#begin().finally(() => {
        jobs = this.#jobs.splice(0, JOBS_PER_COMMIT_MAX)
      })
      answers = this.#runWithoutSavepoints(jobs) ?? (await this.#runWithSavepoints(jobs))
      this.#session.db.exec('COMMIT')
    } catch (thrown) {
      this.#rollback()
      const failure = storeFailure(thrown, this.#path)
      for (const job of jobs) job.reject(failure)
      return
    }
    for (const [index, answer] of answers.entries())
      if (answer !== FAILED) jobs[index]!.resolve(answer as never)
  }

  /** Returns null, with everything rolled back, if a job fails that must not fail the others. */
  #runWithoutSavepoints(jobs: readonly Job[]): unknown[] | null {
    if (this.#savepointsFor > 0) return null
    this.#session.savepoints = false
    try {
      return jobs.map((job) => job.work(this.#session))
    } catch (thrown) {
      if (jobs.length === 1 && !(thrown instanceof SavepointNeeded)) throw thrown
      this.#rollback()
      this.#savepointsFor = SAVEPOINT_COMMITS
      return null
    } finally {
      this.#session.savepoints = true
    }
  }

  async #runWithSavepoints(jobs: readonly Job[]): Promise<unknown[]> {
    if (!this.#session.db.isTransaction) await this.#begin()
    this.#savepointsFor -= 1
    return jobs.map((job) => this.#runJob(job, jobs.length > 1))
  }

  #begin(): Promise<void> {
    return beginImmediate(this.#session.db, this.#path, this.#busyMs, this.#system)
  }

  #runJob(job: Job, shared: boolean): unknown {
    // A single job is rolled back with its transaction.
    if (!shared) return job.work(this.#session)
    try {
      return this.#session.undoable(job.work)
    } catch (thrown) {
      if (!this.#session.db.isTransaction) throw thrown
      job.reject(storeFailure(thrown, this.#path))
      return FAILED
    }
  }

  #rollback(): void {
    const { db } = this.#session
    if (db.isOpen && db.isTransaction) db.exec('ROLLBACK')
  }
}

const FAILED = Symbol('failed')
