import type { CountOption, Lease, ShardState } from '../../../src/stores/index.ts'
import type { Beat } from '../../../src/stores/sharded/heartbeat.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Desk } from './desk.ts'
import { recoverFlights } from './settle.ts'
import type { ShardRow } from './tables.ts'

/** The heartbeat: renews the process's lease, and tells the clock, who else lives, who has which shard, what wakes. */
export function beat(
  database: SimulatedDatabase,
  owner: string,
  pools: readonly string[],
  leaseMs: number,
): Beat {
  const { tables } = database
  const now = database.now()
  // A row that was forgotten and made anew must not look like one whose beat stands still.
  const beats = (tables.owners.get(owner)?.beats ?? Number(database.next('owners')) * 2 ** 32) + 1
  tables.owners.put(owner, { owner, pools, leaseUntil: now + leaseMs, beats })
  const shards = database.shardsIn(pools)
  const own = shards.filter((shard) => shard.owner === owner)
  return {
    now,
    lost: 0,
    shards,
    others: tables.owners.values().filter((other) => other.owner !== owner),
    firsts: new Map(own.map(({ shard }) => [shard, tables.due.in(shard)[0]?.at ?? null])),
  }
}

/** How many shards of a pool somebody wants. */
export interface Wanted {
  readonly pool: string
  readonly count: number
}

/** An owner whose beat has stood still for a whole lease, and at which. */
export interface Still {
  readonly owner: string
  readonly beats: number
}

/** Claims free shards: nobody's, or those of the dead. What was in flight there counts as an attempt. */
export function claim(
  desk: Desk,
  owner: string,
  wanted: readonly Wanted[],
  dead: { readonly still: readonly Still[]; readonly byClock: boolean },
): ShardRow[] {
  const { database } = desk
  const { tables } = database
  const now = database.now()
  const isDead = (other: string) => {
    const row = tables.owners.get(other)
    if (row === undefined) return true
    if (dead.byClock && row.leaseUntil <= now) return true
    return dead.still.some((each) => each.owner === other && each.beats === row.beats)
  }
  const claimed: ShardRow[] = []
  for (const { pool, count } of wanted) {
    // What an open settle has is left for the next beat.
    const isFree = ({ shard, owner: holder }: ShardRow) =>
      holder !== owner && (holder === null || isDead(holder)) && !database.isHeld('shards', shard)
    for (const shard of database.shardsIn([pool]).filter(isFree).slice(0, count)) {
      const taken = { ...shard, owner, epoch: shard.epoch + 1 }
      tables.shards.put(shard.shard, taken)
      claimed.push(taken)
    }
  }
  recoverFlights(
    desk,
    claimed.map(({ shard }) => shard),
  )
  for (const other of tables.owners.values())
    if (other.owner !== owner && isDead(other.owner)) database.endHandlers(other.owner)
  forgetDead(database, owner, isDead)
  return claimed
}

/** The dead that own nothing any more. */
function forgetDead(database: SimulatedDatabase, owner: string, isDead: (other: string) => boolean): void {
  const owning = new Set(database.shardsIn().map((shard) => shard.owner))
  for (const other of database.tables.owners.values())
    if (other.owner !== owner && !owning.has(other.owner) && isDead(other.owner))
      database.tables.owners.remove(other.owner)
}

/** Gives up so many of these shards, those with nothing in flight: the next owner would count it as an attempt. */
export function giveUpIdle(
  database: SimulatedDatabase,
  leases: readonly Lease[],
  count: number,
): ReadonlySet<number> {
  const isIdle = ({ shard }: Lease) =>
    database.tables.flightsOfShard.in(shard).length === 0 && !database.isHeld('shards', shard)
  const given = leases.filter((lease) => isHolder(database, lease) && isIdle(lease)).slice(0, count)
  for (const lease of given) free(database, lease)
  return new Set(given.map(({ shard }) => shard))
}

/** Gives shards back; whoever claims next does not count this process among those that serve their pools. */
export function disown(database: SimulatedDatabase, leases: readonly Lease[]): void {
  const { tables } = database
  for (const lease of leases) if (database.isOwn(lease)) free(database, lease)
  for (const owner of new Set(leases.map((lease) => lease.holder))) {
    const row = tables.owners.get(owner)
    if (row === undefined) continue
    const left = database.shardsIn().filter((shard) => shard.owner === owner)
    const pools = row.pools.filter((pool) => left.some((shard) => shard.pool === pool))
    if (left.length === 0) tables.owners.remove(owner)
    else tables.owners.put(owner, { ...row, pools })
  }
}

/** Who runs the clock of each shard. An owner whose lease has ended is none. */
export function readShards(
  database: SimulatedDatabase,
  counts: CountOption,
  pools?: readonly string[],
): ShardState[] {
  const { tables } = database
  const now = database.now()
  return database.shardsIn(pools).map(({ shard, pool, owner, epoch }) => {
    const lives = owner !== null && (tables.owners.get(owner)?.leaseUntil ?? 0) > now
    const due = tables.due.in(shard)
    const nextWakeAt = due[0]?.at ?? null
    return { shard, pool, holder: lives ? owner : null, epoch, pending: countOf(due, counts), nextWakeAt }
  })
}

function isHolder(database: SimulatedDatabase, lease: Lease): boolean {
  return database.isOwn(lease) && database.shard(lease.shard, lease.pool).owner === lease.holder
}

function free(database: SimulatedDatabase, { shard, pool }: Lease): void {
  database.tables.shards.put(shard, { ...database.shard(shard, pool), owner: null })
}

function countOf(waiting: readonly { readonly at: number }[], counts: CountOption): number {
  if (typeof counts === 'boolean') return counts ? waiting.length : 0
  return waiting.filter(({ at }) => at <= counts.dueBy).length
}
