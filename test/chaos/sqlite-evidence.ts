import { DatabaseSync } from 'node:sqlite'
import type { Evidence } from '../judge/evidence.ts'
import { type OccurrenceRow, recordOf } from '../judge/occurrence-row.ts'
import { readLedger } from './ledger.ts'

/** The application's table in the same file, which transactional handlers write to. */
export const EFFECTS_TABLE =
  'CREATE TABLE IF NOT EXISTS chaos_effects (occurrence TEXT NOT NULL, run INTEGER NOT NULL) STRICT'

/** Gathers the evidence of a campaign on a SQLite file. */
export function sqliteEvidence(path: string, ledgerPath: string): Evidence {
  const db = new DatabaseSync(path)
  try {
    const events = db
      .prepare(
        `SELECT e.seq, e.at, e.type, a.id AS alarm_id, e.occurrence, e.data FROM wakeful_events e
         JOIN wakeful_alarms a ON a.seq = e.alarm WHERE e.occurrence IS NOT NULL ORDER BY e.seq`,
      )
      .all() as unknown as OccurrenceRow[]
    const effects = db.prepare('SELECT occurrence FROM chaos_effects').all() as { occurrence: string }[]
    const pending = db
      .prepare('SELECT a.id FROM wakeful_timers t JOIN wakeful_alarms a ON a.seq = t.alarm')
      .all() as { id: string }[]
    return {
      entries: readLedger(ledgerPath),
      log: events.map(recordOf),
      effects: effects.map((row) => row.occurrence),
      pending: pending.map((row) => row.id),
    }
  } finally {
    db.close()
  }
}

/** The end of the log and the number of timers in flight. */
export function sqliteMoment(path: string): { logEnd: number; inFlight: number } {
  const db = new DatabaseSync(path)
  try {
    const log = db.prepare('SELECT max(seq) AS seq FROM wakeful_events').get() as { seq: number | null }
    const batches = db.prepare('SELECT timers FROM wakeful_in_flight_batches').all() as { timers: string }[]
    const timer = db.prepare('SELECT 1 FROM wakeful_timers WHERE id = ? AND version = ?')
    let inFlight = 0
    for (const { timers } of batches) {
      const flat = JSON.parse(timers) as number[]
      for (let i = 0; i + 1 < flat.length; i += 2)
        if (timer.get(flat[i]!, flat[i + 1]!) !== undefined) inFlight += 1
    }
    return { logEnd: log.seq ?? 0, inFlight }
  } finally {
    db.close()
  }
}

/** The lease holder of the workload's pool, parsed from its name (host:pid:random). */
export function sqliteOwner(path: string): number | null {
  const db = new DatabaseSync(path)
  try {
    const row = db.prepare("SELECT holder FROM wakeful_shards WHERE pool = 'app'").get() as
      | { holder: string | null }
      | undefined
    return row?.holder == null ? null : Number(row.holder.split(':').at(-2))
  } finally {
    db.close()
  }
}

/** Corruption of the file, checked after everything was drained and closed. */
export function sqliteDamage(path: string): string[] {
  const db = new DatabaseSync(path)
  try {
    const damage: string[] = []
    const checks = db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[]
    for (const { integrity_check } of checks) if (integrity_check !== 'ok') damage.push(integrity_check)
    const batches = db.prepare('SELECT count(*) AS count FROM wakeful_in_flight_batches').get() as {
      count: number
    }
    if (batches.count > 0)
      damage.push(`${batches.count} batches are recorded as in flight although nothing is`)
    const owned = db.prepare('SELECT pool FROM wakeful_shards WHERE holder IS NOT NULL').all()
    if (owned.length > 0) damage.push(`${owned.length} shards are owned although everyone has closed`)
    damage.push(...tallyDamage(db))
    return damage
  } finally {
    db.close()
  }
}

/** Compares the figures of `stats` with a recount. */
function tallyDamage(db: DatabaseSync): string[] {
  const recount = db
    .prepare(
      `SELECT a.tenant, a.owner, count(*) AS total,
         sum(o.status IS NULL AND r.alarm IS NULL) AS pending, sum(o.status IS NULL AND r.alarm IS NOT NULL) AS fired,
         sum(coalesce(o.status, '') IN ('fired', 'completed')) AS completed, sum(coalesce(o.status, '') = 'failed') AS failed,
         sum(coalesce(o.status, '') = 'cancelled') AS cancelled, sum(coalesce(o.status, '') = 'timed_out') AS timed_out
       FROM wakeful_alarms a LEFT JOIN wakeful_outcomes o ON o.alarm = a.seq
       LEFT JOIN (SELECT DISTINCT t.alarm FROM wakeful_timers t JOIN wakeful_alarms b ON b.seq = t.alarm
         WHERE t.kind = 'report' AND t.generation = b.generation AND b.kind = 'once') r ON r.alarm = a.seq
       GROUP BY a.tenant, a.owner`,
    )
    .all() as Record<string, string | number>[]
  const kept = db.prepare('SELECT * FROM wakeful_tallies').all() as Record<string, string | number>[]
  return recount.flatMap((row) => {
    const tally = kept.find(({ tenant, owner }) => tenant === row.tenant && owner === row.owner)
    return Object.keys(row)
      .filter((column) => tally?.[column] !== row[column])
      .map((column) => `stats say ${tally?.[column]} ${column}, the rows say ${row[column]}`)
  })
}
