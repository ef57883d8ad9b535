import type { Lease, MissingHandler, WaitingFilter } from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import type { TimerRow } from './tables.ts'

/** Releases up to `limit` waiting timers of these shards. Returns how many. */
export function releaseWaiting(
  database: SimulatedDatabase,
  leases: readonly Lease[],
  which: WaitingFilter,
  now: number,
  limit: number,
): number {
  const { tables } = database
  const waiting = leases
    .filter((lease) => database.isOwn(lease))
    .flatMap(({ shard }) => tables.due.in(shard).slice(tables.due.upTo(shard, now)))
    .map(({ key }) => tables.timers.get(key)!)
    .filter((row) => isMeant(row, which))
  const isPaused = !('handler' in which)
  // The longest paused first. They no longer count as paused.
  if (isPaused) waiting.sort((a, b) => a.timer.scheduledFor - b.timer.scheduledFor)
  const released = waiting.slice(0, limit)
  for (const row of released) {
    const timer = { ...row.timer, wakeAt: row.timer.scheduledFor }
    tables.timers.put(timer.id, { ...row, timer: isPaused ? { ...timer, waiting: null } : timer })
  }
  return released.length
}

/** The target names of paused timers in these shards. */
export function pausedTargets(
  { tables }: SimulatedDatabase,
  leases: readonly Lease[],
  limit: number,
): string[] {
  const rows = leases.flatMap(({ shard }) => tables.due.in(shard)).map(({ key }) => tables.timers.get(key)!)
  const paused = rows.filter(({ timer }) => timer.waiting === 'operator_pause')
  return [...new Set(paused.map(({ target }) => target))].slice(0, limit)
}

/** The handlers that are missing although something has been due since this instant. */
export function missingHandlers(database: SimulatedDatabase, dueBy: number, limit: number): MissingHandler[] {
  const { tables } = database
  const found = new Map<string, MissingHandler>()
  for (const { shard, pool } of database.shardsIn()) {
    if (pool === 'wakeful') continue
    for (const { key } of tables.due.in(shard)) {
      const { target: handler, timer } = tables.timers.get(key)!
      const { waiting, wakeAt, scheduledFor: since } = timer
      if (waiting !== 'handler' || since > dueBy || (wakeAt ?? 0) <= since) continue
      const name = JSON.stringify([pool, handler])
      if (since < (found.get(name)?.since ?? Infinity)) found.set(name, { pool, handler, since })
    }
  }
  return [...found.values()].sort((a, b) => a.since - b.since).slice(0, limit)
}

function isMeant({ tenant, target, timer }: TimerRow, which: WaitingFilter): boolean {
  if ('handler' in which) return timer.waiting === 'handler' && target === which.handler
  if (timer.waiting !== 'operator_pause') return false
  return 'pausedTenant' in which ? tenant === which.pausedTenant : target === which.pausedTarget
}
