import type { Scope } from '../../../alarm/index.ts'
import type { Stats } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** Reads one owner's figures: a few rows, however many alarms there are. */
export async function readStats(session: Session, { tenant, owner }: Scope): Promise<Stats> {
  const row = (await session.row(sql.tallyOfOwner, tenant, owner)) as number[]
  const [total, pending, fired, completed, failed, cancelled, timedOut, durationMs, durations] = row
  return {
    total: total!,
    pending: pending!,
    fired: fired!,
    completed: completed!,
    failed: failed!,
    cancelled: cancelled!,
    timedOut: timedOut!,
    avgDurationMs: durations === 0 ? null : Math.round(durationMs! / durations!),
  }
}
