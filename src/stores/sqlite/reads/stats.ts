import type { Scope } from '../../../alarm/index.ts'
import type { Stats, Tallies } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

interface TallyRow {
  total: number
  pending: number
  fired: number
  completed: number
  failed: number
  cancelled: number
  timed_out: number
  duration_ms_sum: number
  duration_count: number
}

/** Reads one owner's figures: one row, however many alarms there are. */
export function readStats(session: Session, scope: Scope): Stats {
  const row = session.get<TallyRow>(sql.tallyOfOwner, scope.tenant, scope.owner)
  return {
    total: row?.total ?? 0,
    pending: row?.pending ?? 0,
    fired: row?.fired ?? 0,
    completed: row?.completed ?? 0,
    failed: row?.failed ?? 0,
    cancelled: row?.cancelled ?? 0,
    timedOut: row?.timed_out ?? 0,
    avgDurationMs:
      row === undefined || row.duration_count === 0
        ? null
        : Math.round(row.duration_ms_sum / row.duration_count),
  }
}

/** Reads how many alarms of a tenant are still to fire: one row per owner. */
export function readPending(session: Session, tenant: string): number {
  return session.get<{ pending: number | null }>(sql.pendingOfTenant, tenant)?.pending ?? 0
}

/** Adds what was gathered to the figures. */
export function writeTallies(session: Session, tallies: Tallies): void {
  for (const { scope, sums } of tallies.drain()) {
    session.run(sql.addTally, scope.tenant, scope.owner, ...sums)
  }
}
