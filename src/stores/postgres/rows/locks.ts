import type { Serial } from '../../../alarm/index.ts'
import { contention, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { readInFlight, readSnapshots, type Snapshots } from './snapshots.ts'

/** What wakes within this time may be in a batch that is just being taken: an edit of it keeps the take out. */
const NEAR_MS = 1_000
/** What comes near while the locks are waited for is locked with the rest: later it would be out of order. */
const SOON_MS = 5_000
const ROUNDS_MAX = 10

/**
 * Reads alarms to decide about them, and keeps them from changing until the transaction ends: shards, alarms, timers, in
 * this order, each sorted, as everybody does.
 *
 * The shards are locked where a timer is near its instant, so that what is in flight can be told (promise:
 * cancel-wins). Far from it, the lock on the timer is enough: a take that finds it due one day sees that it is locked.
 * So a transaction of a user's that cancels something far does not stop the clock of a whole shard.
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
    // What follows are statements that begin after the locks are held: what they waited for is seen.
    const [rows, snapshots, still] = await Promise.all([
      session.rows(sql.lockTimersOfAlarms, seqs),
      readSnapshots(session, seqs, readInFlight(session, [...locked])),
      shardsWaking(session, seqs, moment(), NEAR_MS),
    ])
    await session.acknowledged()
    const ids = new Set(rows.map(([id]) => id as Serial))
    const timers = [...snapshots.found.values()].flatMap((snapshot) => snapshot.timers)
    const isWhole = timers.every(({ id }) => ids.has(id)) && still.every((shard) => locked.has(shard))
    // More rounds than ever needed: somebody is changing these without end.
    if (isWhole || round === ROUNDS_MAX) return snapshots
  }
}

/**
 * What was far has come near through somebody's edit, and the alarms are held already: who holds the shard may wait for
 * them. So the shard is not waited for; where it is not free, all of this is tried again from its beginning.
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
