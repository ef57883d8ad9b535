import { AsyncLocalStorage } from 'node:async_hooks'
import { WakefulError } from '../../../error.ts'
import { isBusy, storeFailure } from './errors.ts'
import { SavepointNeeded, type Session } from './session.ts'
import { realSystem, type System, wait } from './system.ts'

interface Job {
  readonly work: (session: Session) => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (reason: unknown) => void
}

/** Most jobs one transaction takes: bounds how long the event loop is blocked. */
const JOBS_PER_COMMIT_MAX = 2_000
const BUSY_WAIT_MS_MAX = 20
/** Transactions that use savepoints after one that failed without: who fails often must not have everyone run twice. */
const CAREFUL_COMMITS = 20
const INSIDE =
  'inside a transactional handler, write through its transaction: set(…, { tx: fire.tx }), cancel(id, { tx: fire.tx })'

/**
 * One writer per process: callers of the same moment share a transaction and its fsync (group commit), and each is
 * answered after the commit (promise: durable). A job that fails is undone alone: jobs run without savepoints, which
 * is faster, and if one of them fails, all are undone and run again with them. So a job must be fit to run twice.
 */
export class WriteQueue {
  readonly #session: Session
  readonly #path: string
  readonly #busyMs: number
  readonly #system: System
  /** Marks calls that come from within exclusive work: they would wait for themselves. */
  readonly #inExclusive = new AsyncLocalStorage<{ isOpen: boolean }>()
  #jobs: Job[] = []
  #scheduled = false
  #carefulFor = 0
  #exclusive: Promise<unknown> | null = null
  /** Ends when the last of those who asked for the file to themselves is done. */
  #turn: Promise<void> | null = null
  #flushing: Promise<unknown> | null = null
  #closed = false

  constructor(session: Session, path: string, busyMs: number, system: System = realSystem) {
    this.#session = session
    this.#path = path
    this.#busyMs = busyMs
    this.#system = system
  }

  /** Runs work inside the next transaction; answers when it is on disk. */
  run<T>(work: (session: Session) => T): Promise<T> {
    // What such work leaves behind for later (a timer) carries the mark on, but waits for nothing any more.
    if (this.#inExclusive.getStore()?.isOpen === true)
      return Promise.reject(new WakefulError('store.inside_transaction', { detail: INSIDE }))
    if (this.#closed) return Promise.reject(new WakefulError('store.closed', { name: this.#path }))
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ work, resolve, reject })
      this.#schedule()
    })
  }

  /** Holds all other writes of this process back while work runs; in memory, on the same connection. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#turn
    let done = () => {}
    const turn = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#turn = turn
    if (before !== null) await before
    // What is queued goes first: a row of transactions must not keep everyone else from the lock.
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

  /** Lets what is queued be written, then refuses more. */
  async close(): Promise<void> {
    if (this.#inExclusive.getStore()?.isOpen === true)
      throw new WakefulError('store.inside_transaction', { detail: INSIDE })
    // Exclusive work that is still under way was given up by the drain: it is not waited for.
    if (this.#exclusive === null) await this.run(() => {}).catch(() => {})
    this.#closed = true
    const closed = new WakefulError('store.closed', { name: this.#path })
    for (const job of this.#jobs.splice(0)) job.reject(closed)
  }

  // After everything else of this turn, so that its callers share the commit; a lone caller waits for no one.
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
    const begun = await this.#begin()
    const jobs = this.#jobs.splice(0, JOBS_PER_COMMIT_MAX)
    let answers: unknown[]
    try {
      if (begun !== true) throw begun
      answers = this.#runBold(jobs) ?? (await this.#runCarefully(jobs))
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

  /** Without savepoints; null, with everything undone, where a job fails that must not take all the others along. */
  #runBold(jobs: readonly Job[]): unknown[] | null {
    if (this.#carefulFor > 0) return null
    this.#session.savepoints = false
    try {
      return jobs.map((job) => job.work(this.#session))
    } catch (thrown) {
      if (jobs.length === 1 && !(thrown instanceof SavepointNeeded)) throw thrown
      this.#rollback()
      this.#carefulFor = CAREFUL_COMMITS
      return null
    } finally {
      this.#session.savepoints = true
    }
  }

  async #runCarefully(jobs: readonly Job[]): Promise<unknown[]> {
    const begun = this.#session.db.isTransaction || (await this.#begin())
    if (begun !== true) throw begun
    this.#carefulFor -= 1
    return jobs.map((job) => this.#runJob(job, jobs.length > 1))
  }

  /** Takes the write lock, waiting without blocking the event loop: a lock may be held by this very thread. */
  async #begin(): Promise<true | unknown> {
    for (let waited = 0, ms = 1; ; ms = Math.min(ms * 2, BUSY_WAIT_MS_MAX)) {
      try {
        this.#session.db.exec('BEGIN IMMEDIATE')
        return true
      } catch (thrown) {
        if (!isBusy(thrown) || waited >= this.#busyMs) return storeFailure(thrown, this.#path)
      }
      await wait(this.#system, ms)
      waited += ms
    }
  }

  #runJob(job: Job, shared: boolean): unknown {
    // A lone job is undone with its transaction.
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
