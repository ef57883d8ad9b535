import { randomUUID } from 'node:crypto'
import type { Change, Context, Scope, Snapshot } from '../../alarm/index.ts'
import type { HolidayCalendar } from '../../time/index.ts'
import type {
  CountOption,
  Decide,
  EditResult,
  InFlightBatch,
  Lease,
  NewCalendar,
  PortableLine,
  PortableRow,
  RecomputeFilter,
  Selector,
  SetRequest,
  SetResult,
  Settlement,
  SettleResult,
  ShardState,
  Store,
  WaitingFilter,
} from '../index.ts'
import { CALENDARS_NOTICE, type ShardedOptions, ShardedProtocol } from '../sharded/index.ts'
import {
  claimStatements,
  LostLeases,
  missingHandlers,
  type Outcomes,
  pausedTargets,
  releaseWaiting,
  settleOneByOne,
  settleTogether,
  transact,
} from './claims/index.ts'
import {
  Database,
  type DatabaseOptions,
  Growth,
  isBroken,
  isStoreError,
  type Session,
} from './connection/index.ts'
import { leaseStatements, listenStatements } from './leases/index.ts'
import { PostgresRecords, watchLog } from './reads/index.ts'
import {
  putCalendar,
  readShards,
  removeCalendar,
  ShardMap,
  type StoreContext,
  WriteBatch,
} from './rows/index.ts'
import { migrate, SHARDS } from './schema/index.ts'
import * as sql from './sql/index.ts'
import { exportLines, importBatch } from './transfer/index.ts'
import {
  type EditJob,
  editAll,
  GroupCommit,
  isKeyed,
  recomputeSelected,
  Sets,
  setAll,
  UserTransactions,
  writeWaiting,
} from './writes/index.ts'

/** How a PostgreSQL store is opened. */
export interface PostgresOptions extends DatabaseOptions, ShardedOptions {
  /** Shards per pool (64); fixed when the tables are created. */
  readonly shards?: number
}

/** Opens a store in a PostgreSQL database, creating or upgrading its tables. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const database = await Database.open(options)
  try {
    await migrate(database, options.clock.now(), options.shards ?? SHARDS)
    const shards = Number((await database.session.row(sql.meta, 'shards'))![0])
    return await new PostgresStore(database, options, shards).open()
  } catch (thrown) {
    await database.close()
    throw database.failure(thrown)
  }
}

/** The store in a PostgreSQL database, for many processes, each of which holds some shards. */
export class PostgresStore extends PostgresRecords implements Store {
  protected readonly protocol: ShardedProtocol
  readonly #context: StoreContext
  readonly #sets: Sets
  readonly #edits: GroupCommit<EditJob, EditResult<unknown>>
  readonly #userTransactions: UserTransactions
  readonly #growth: Growth

  /** @internal */
  constructor(database: Database, options: PostgresOptions, shardsPerPool: number) {
    super(database)
    const { session } = database
    const shards = new ShardMap(database, shardsPerPool)
    const inTransaction = <T>(work: (batch: WriteBatch) => Promise<T>) => this.#write(work)
    const context: StoreContext = {
      shards,
      channel: `wakeful_${database.schema}`,
      clockOverride: () => this.protocol.clockOverride,
      noticeFor: (wakes, isUserTransaction) => this.protocol.noticeFor(wakes, isUserTransaction),
    }
    this.#context = context
    this.protocol = new ShardedProtocol(options, {
      leases: leaseStatements(session, context, inTransaction),
      claims: claimStatements(database, inTransaction),
      listening: listenStatements(database, context, () => this.heartbeatMs),
      readClock: async () => ((await session.row(sql.clockNowUs))![0] as number) / 1000,
      watchLog: (onGrown) => watchLog(database, onGrown),
      sender: randomUUID(),
      onCalendarsChanged: () => this.rereadCalendars(),
    })
    this.#sets = new Sets(database, shards, this.protocol.nextWakes, inTransaction)
    this.#edits = new GroupCommit(database.timers, (jobs, isAlone) =>
      writeWaiting(inTransaction, isAlone, (batch) => editAll(batch, jobs)),
    )
    this.#userTransactions = new UserTransactions(database)
    this.#growth = new Growth(database)
  }

  set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]> {
    return this.guard(() =>
      tx === undefined
        ? this.#sets.set({ requests, context })
        : this.#inUserTransaction(tx, requests.some(isKeyed), (batch) =>
            setAll(batch, [{ requests, context }]),
          ),
    )
  }

  edit<A>(scope: Scope, which: Selector, decide: Decide<A>, context: Context, tx?: unknown) {
    const job = { scope, which, decide, context }
    const edited = this.guard(() =>
      tx === undefined
        ? this.#edits.submit(job)
        : this.#inUserTransaction(tx, true, async (batch) => {
            const [ending] = await editAll(batch, [job])
            if ('refusal' in ending!) throw ending.refusal
            return ending!.answer
          }),
    )
    return edited as Promise<EditResult<A>>
  }

  settle(settlements: readonly Settlement[], batches: readonly InFlightBatch[], context: Context) {
    const outcomes = { settlements, batches, context }
    return this.guard(async () => {
      const settled = await this.#write((batch) => settleTogether(batch, outcomes)).catch(
        (thrown: unknown) => {
          if (isStoreError(thrown)) throw thrown
          return this.#settleCarefully(outcomes, thrown)
        },
      )
      this.protocol.claims.acknowledged(batches)
      return settled
    })
  }

  transact(lease: Lease, work: (tx: unknown) => Promise<Settlement>, context: () => Context) {
    return this.guard(() => transact(this.database, this.#context, this.#noteWrites, lease, work, context))
  }

  requeueWaiting(leases: readonly Lease[], which: WaitingFilter, now: number, limit: number) {
    return this.guard(async () => {
      if (leases.length === 0) return 0
      const released = await releaseWaiting(this.database.session, leases, which, now, limit)
      if (released > 0) this.protocol.nextWakes.clear()
      return released
    })
  }

  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]> {
    return this.guard(() => pausedTargets(this.database.session, leases, limit))
  }

  missingHandlers(dueBy: number, limit: number) {
    return this.guard(() => missingHandlers(this.database.session, dueBy, limit))
  }

  recomputeInstants(which: RecomputeFilter, decide: (snapshot: Snapshot) => Change | null, context: Context) {
    return this.guard(() => this.#write((batch) => recomputeSelected(batch, which, decide, context)))
  }

  putCalendar(tenant: string, calendar: NewCalendar, context: Context): Promise<HolidayCalendar> {
    return this.#editCalendars((session) => putCalendar(session, tenant, calendar, context))
  }

  removeCalendar(tenant: string, name: string): Promise<boolean> {
    return this.#editCalendars((session) => removeCalendar(session, tenant, name))
  }

  /** Writes a batch of an export's lines; skips rows that exist. */
  import(lines: readonly PortableRow[], context: Context): Promise<number> {
    return this.guard(() => importBatch((work) => this.#write(work), lines, context))
  }

  /** Everything as of this moment, line by line. */
  export(): AsyncGenerator<PortableLine> {
    return exportLines(this.database, this.clock.now())
  }

  shardStates(counts?: CountOption, pools?: readonly string[]): Promise<ShardState[]> {
    return this.guard(() => readShards(this.database, this.protocol.clockOverride, counts, pools))
  }

  async close(): Promise<void> {
    await this.protocol.close(async () => {
      await Promise.all([this.#sets.settled(), this.#edits.settled()])
    })
    await this.database.close()
  }

  protected assertOpen(): void {
    this.database.assertOpen()
  }

  /** Runs work; turns PostgreSQL's errors into ours. */
  protected async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.assertOpen()
      return await work()
    } catch (thrown) {
      throw this.database.failure(thrown)
    }
  }

  /** Without the lost leases, if they were the reason; otherwise one by one. */
  async #settleCarefully(outcomes: Outcomes, thrown: unknown): Promise<SettleResult> {
    if (thrown instanceof LostLeases) {
      try {
        return await this.#write((batch) => settleTogether(batch, outcomes, thrown.leases))
      } catch (again) {
        if (isStoreError(again)) throw again
      }
    }
    return this.#write((batch) => settleOneByOne(batch, outcomes))
  }

  /** Runs work in a transaction, notifies others of what it wrote, and notes it after the commit. */
  async #write<T>(work: (batch: WriteBatch) => Promise<T>): Promise<T> {
    let batch: WriteBatch | undefined
    const inTransaction = async (session: Session) => {
      batch = new WriteBatch(session, this.#context)
      const answer = await work(batch)
      await batch.finish()
      return answer
    }
    try {
      const answer = await this.database.transaction(inTransaction)
      this.#noteWrites(batch!)
      return answer
    } catch (thrown) {
      // If the connection broke, the batch may be committed all the same, and its wakes must not be lost.
      if (batch !== undefined && isBroken(thrown)) this.#noteWrites(batch)
      throw thrown
    }
  }

  /** Edits the calendars, notifies other processes, and reads them again before it returns. */
  async #editCalendars<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const answer = await this.guard(() =>
      this.#write(async (batch) => {
        const done = await work(batch.session)
        batch.notify(CALENDARS_NOTICE)
        return done
      }),
    )
    await this.readCalendars()
    return answer
  }

  #inUserTransaction<T>(tx: unknown, looks: boolean, work: (batch: WriteBatch) => Promise<T>): Promise<T> {
    return this.#userTransactions.within(tx, looks, async (session) => {
      const batch = new WriteBatch(session, this.#context, true)
      const answer = await work(batch)
      await batch.finish()
      return answer
    })
  }

  readonly #noteWrites = ({ earliestWakes, insertedRows }: WriteBatch): void => {
    this.protocol.noteWakes(earliestWakes)
    this.#growth.note(insertedRows)
  }
}
