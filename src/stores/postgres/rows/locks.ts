import type { Serial } from '../../../alarm/index.ts'
import { contention, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { readInFlight, readSnapshots, type Snapshots } from './snapshots.ts'

/** A timer that wakes within this time may be in a batch that is being claimed now: its edit locks out claims. */
const NEAR_MS = 1_000
/** Timers that come near while this waits for locks are locked with the rest: later would be out of order. */
const SOON_MS = 5_000
const ROUNDS_MAX = 10

/**
 * Reads alarms for a decision, and locks them until the transaction ends: shards, alarms, timers, each sorted, in the
 * same order everywhere. The shards are locked if a timer is near its instant, so that what is in flight is known
 * (promise: cancel-wins). Otherwise the timer's lock is enough: a claim that finds it due sees that it is locked. So
 * a user transaction that cancels an alarm far ahead does not stop a whole shard.
 */
export async function lockSnapshots(
  session: Session,
  seqs: readonly Serial[],
  moment: () => number | null,
): Promise<Snapshots> {
  if (seqs.length === 0) return { found: new Map(), damaged: new Map() }
  const locked = new Set<number>()
  for (let round = 1; ; round++) {
    const soon = await shardsWaking(session, seqs, moment(), SOON_MS)
    const missing = soon.filter((shard) => !locked.has(shard))
    if (round === 1 && missing.length > 0) session.send(sql.lockShards, missing)
    else await lockLate(session, missing)
    for (const shard of missing) locked.add(shard)
    session.send(sql.lockAlarms, seqs)
    // These statements begin after the locks are acquired, so they see what the locks waited for.
    const [rows, snapshots, still] = await Promise.all([
      session.rows(sql.lockTimersOfAlarms, seqs),
      readSnapshots(session, seqs, readInFlight(session, [...locked])),
      shardsWaking(session, seqs, moment(), NEAR_MS),
    ])
    await session.acknowledged()
    const ids = new Set(rows.map(([id]) => id as Serial))
    const timers = [...snapshots.found.values()].flatMap((snapshot) => snapshot.timers)
    const isWhole = timers.every(({ id }) => ids.has(id)) && still.every((shard) => locked.has(shard))
    // More rounds than ever needed: the alarms keep changing.
    if (isWhole || round === ROUNDS_MAX) return snapshots
  }
}

/**
 * A timer has come near through another edit, and its alarm is locked already: the holder of the shard's lock may
 * wait for it. So this does not wait for the shard; if it is locked, the whole transaction is retried.
 */
async function lockLate(session: Session, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return
  const free = await session.rows(sql.lockFreeShards, shards)
  if (free.length < shards.length) throw contention('an alarm came near while it was being edited')
}

async function shardsWaking(
  session: Session,
  seqs: readonly Serial[],
  moment: number | null,
  withinMs: number,
): Promise<number[]> {
  const rows = await session.rows(sql.nearShards, seqs, moment, withinMs)
  return rows.map(([shard]) => shard as number)
}
