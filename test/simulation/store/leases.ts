import type { Context } from '../../../src/alarm/index.ts'
import type { CountOption, Lease, ShardState } from '../../../src/stores/index.ts'
import { isContention } from '../../../src/stores/postgres/connection/errors.ts'
import type {
  HeartbeatRequest,
  HeartbeatResult,
  LeasedShard,
  LeaseStatements,
  LeaseTransaction,
  OtherProcess,
} from '../../../src/stores/sharded/index.ts'
import { type Connection, isBroken } from './connection.ts'
import type { SimulatedDatabase } from './database.ts'
import { recoverBatches } from './settle.ts'
import type { ShardRow } from './tables.ts'
import type { OpenTransaction } from './transaction.ts'
import { Writes } from './writes.ts'

/** How long a transaction may be idle between two statements before the server ends it. */
const IDLE_IN_TRANSACTION_MS = 4_000
const ATTEMPTS_MAX = 8

/** What a lease transaction needs from its store: commit, and notify other processes of wakes. */
export type CommitLeases = (tx: OpenTransaction, freesShards: boolean) => Promise<void>

/** The statements of the lease protocol, in memory. */
export class SimulatedLeaseStatements implements LeaseStatements {
  readonly #connection: Connection
  readonly #commit: CommitLeases

  constructor(connection: Connection, commit: CommitLeases) {
    this.#connection = connection
    this.#commit = commit
  }

  async ensureShards(pools: readonly string[]): Promise<void> {
    for (const pool of pools) this.#connection.database.shardsOf(pool)
  }

  shardsOf(process: string): Promise<readonly LeasedShard[]> {
    return this.#connection.send('heartbeat.shards', () => this.#connection.database.shardsOfProcess(process))
  }

  async leaseTransaction<T>(work: (transaction: LeaseTransaction) => Promise<T>): Promise<T> {
    const { database, process } = this.#connection
    for (let attempts = 1; ; attempts++) {
      const tx = database.begin(process, { idleMsMax: IDLE_IN_TRANSACTION_MS })
      const transaction = new SimulatedLeaseTransaction(this.#connection, tx)
      try {
        const answer = await work(transaction)
        await this.#commit(tx, transaction.freesShards)
        return answer
      } catch (thrown) {
        // If the connection broke, the server does not know: it keeps the locks until the idle timeout.
        if (!isBroken(thrown)) database.rollback(tx)
        if (!isContention((thrown as Error).cause ?? thrown) || attempts >= ATTEMPTS_MAX) throw thrown
      }
    }
  }
}

class SimulatedLeaseTransaction implements LeaseTransaction {
  freesShards = false
  readonly #connection: Connection
  readonly #tx: OpenTransaction

  constructor(connection: Connection, tx: OpenTransaction) {
    this.#connection = connection
    this.#tx = tx
  }

  lockProcess(process: string): Promise<boolean> {
    return this.#send('acquire.register', (database) => {
      database.assertFree('processes', process)
      database.share('process_keys', process)
      return database.tables.processes.get(process) !== undefined
    })
  }

  markDead(
    process: string,
    silent: readonly OtherProcess[],
    hasClockJumped: boolean,
  ): Promise<readonly string[]> {
    return this.#send('acquire.mark_dead', (database) => {
      const { processes } = database.tables
      const isDead = (row: OtherProcess) =>
        (!hasClockJumped && row.leaseUntil <= database.now()) ||
        silent.some((each) => each.process === row.process && each.heartbeats === row.heartbeats)
      const isLocked = (row: OtherProcess) =>
        database.isLocked('processes', row.process) || database.isLocked('process_keys', row.process)
      const dead = processes
        .values()
        .filter((row) => row.process !== process && isDead(row) && !isLocked(row))
      for (const row of dead) processes.put(row.process, { ...row, takeovers: row.takeovers + 1 })
      return dead.map((row) => row.process)
    })
  }

  acquire(
    process: string,
    pool: string,
    dead: readonly string[],
    count: number,
  ): Promise<readonly LeasedShard[]> {
    return this.#send('acquire.shards', (database) => {
      const isFree = ({ shard, holder }: ShardRow) =>
        (holder === null || dead.includes(holder)) && !isLocked(database, shard)
      const free = database.shardsIn([pool]).filter(isFree).slice(0, count)
      return free.map((row) => {
        const acquired = { ...row, holder: process, epoch: row.epoch + 1 }
        database.tables.shards.put(row.shard, acquired)
        return acquired
      })
    })
  }

  recoverInFlight(shards: readonly number[], context: Context): Promise<void> {
    return this.#send('acquire.recover', (database) => {
      const writes = new Writes(database)
      recoverBatches({ database, writes, context }, shards)
      writes.finish(this.#tx)
    })
  }

  removeDead(dead: readonly string[]): Promise<void> {
    return this.#send('acquire.remove_dead', (database) => {
      for (const process of dead) {
        database.endHandlers(process)
        if (database.shardsOfProcess(process).length === 0) database.tables.processes.remove(process)
      }
    })
  }

  releaseIdle(_process: string, leases: readonly Lease[], count: number): Promise<ReadonlySet<number>> {
    return this.#send('give_up', (database) => {
      const isIdle = ({ shard }: Lease) =>
        database.tables.batchesOfShard.in(shard).length === 0 && !isLocked(database, shard)
      const released = leases.filter((lease) => database.isHolder(lease) && isIdle(lease)).slice(0, count)
      for (const lease of released) free(database, lease)
      return new Set(released.map(({ shard }) => shard))
    })
  }

  release(processes: readonly string[], leases: readonly Lease[]): Promise<void> {
    return this.#send('release', (database) => {
      const { tables } = database
      for (const { shard } of leases) database.share('shard_edits', shard)
      for (const lease of leases) if (database.isOwn(lease)) free(database, lease)
      for (const process of processes) {
        const row = tables.processes.get(process)
        if (row === undefined) continue
        const left = database.shardsOfProcess(process)
        const pools = row.pools.filter((pool) => left.some((shard) => shard.pool === pool))
        if (left.length === 0) tables.processes.remove(process)
        else tables.processes.put(process, { ...row, pools })
      }
    })
  }

  leave(process: string): Promise<void> {
    return this.#send('release', (database) => {
      const shards = database.shardsOfProcess(process)
      for (const { shard } of shards) database.share('shard_edits', shard)
      for (const shard of shards) free(database, shard)
      database.tables.processes.remove(process)
    })
  }

  notifyFreeShards(): void {
    this.freesShards = true
  }

  #send<T>(name: string, run: (database: SimulatedDatabase) => T): Promise<T> {
    const { database } = this.#connection
    return this.#connection.send(name, () => database.within(this.#tx, () => run(database)), this.#tx)
  }
}

/** Sends a heartbeat. The server runs `check` first. */
export function heartbeat(
  connection: Connection,
  request: HeartbeatRequest,
  check: () => void = () => {},
): Promise<HeartbeatResult> {
  const { database } = connection
  let snapshot: Seen | null = null
  return connection.send('heartbeat', () =>
    database.atomic(() => {
      check()
      // A statement that waits for a lock continues with the snapshot from its start.
      snapshot ??= look(database, request)
      return { ...snapshot, ...renew(database, request) }
    }),
  )
}

/** Whether a settle, an edit or a takeover has locked the shard. */
function isLocked(database: SimulatedDatabase, shard: number): boolean {
  return database.isLocked('shards', shard) || database.isLocked('shard_edits', shard)
}

type Seen = Pick<HeartbeatResult, 'shards' | 'others' | 'nextWakes'>

function look(database: SimulatedDatabase, { process, pools, wakesFrom }: HeartbeatRequest): Seen {
  const { processes, due } = database.tables
  const shards = database.shardsIn(pools)
  const own = shards.filter(({ holder }) => holder === process)
  const first = (shard: number) => due.in(shard)[due.upTo(shard, wakesFrom - 1)]?.at ?? null
  return {
    shards,
    others: processes.values().filter((row) => row.process !== process),
    nextWakes: new Map(own.map(({ shard }) => [shard, first(shard)])),
  }
}

/** Renews the process's lease once a concurrent takeover has ended. */
function renew(database: SimulatedDatabase, { process, pools, leaseMs }: HeartbeatRequest) {
  const { processes } = database.tables
  const now = database.now()
  // A row that was removed and created anew must not look like the old one.
  const row = processes.get(process) ?? newCounts(database)
  processes.put(process, {
    process,
    pools,
    leaseUntil: now + leaseMs,
    heartbeats: row.heartbeats + 1,
    takeovers: row.takeovers,
  })
  return { now, takeovers: row.takeovers }
}

function newCounts(database: SimulatedDatabase): { readonly heartbeats: number; readonly takeovers: number } {
  const from = Number(database.next('processes')) * 2 ** 32
  return { heartbeats: from, takeovers: from }
}

/** The lease holder of each shard. A process whose lease has ended holds none. */
export function readShards(
  database: SimulatedDatabase,
  counts: CountOption,
  pools?: readonly string[],
): ShardState[] {
  const { tables } = database
  const now = database.now()
  return database.shardsIn(pools).map(({ shard, pool, holder, epoch }) => {
    const lives = holder !== null && (tables.processes.get(holder)?.leaseUntil ?? 0) > now
    const due = tables.due.in(shard)
    const nextWakeAt = due[0]?.at ?? null
    return { shard, pool, holder: lives ? holder : null, epoch, pending: countOf(due, counts), nextWakeAt }
  })
}

function free(database: SimulatedDatabase, { shard, pool }: Pick<Lease, 'shard' | 'pool'>): void {
  database.tables.shards.put(shard, { ...database.shard(shard, pool), holder: null })
}

function countOf(waiting: readonly { readonly at: number }[], counts: CountOption): number {
  if (typeof counts === 'boolean') return counts ? waiting.length : 0
  return waiting.filter(({ at }) => at <= counts.dueBy).length
}
